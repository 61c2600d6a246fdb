//! What can be done with operations.

use platform::{auth::Caller, ids::Ids};
use proto::wallet::v1::{Posting, RefundRequest};
use sqlx::PgPool;

use super::decode;
use crate::{
    access,
    asset::directory::AssetDirectory,
    error::Error,
    ledger::{Command, EndHold, Mode},
    posting::{self, Answer, Postings},
    transaction::{
        model::{Action, Transaction},
        repo,
    },
};

/// The use cases of operations.
#[derive(Debug, Clone)]
pub struct Operations {
    pool: PgPool,
    postings: Postings,
    assets: AssetDirectory,
    ids: Ids,
}

impl Operations {
    /// Operations posted through this queue.
    pub const fn new(pool: PgPool, postings: Postings, assets: AssetDirectory, ids: Ids) -> Self {
        Self {
            pool,
            postings,
            assets,
            ids,
        }
    }

    /// Posts all transfers or none, or holds their money; a repeat answers what the first did.
    pub async fn post(
        &self,
        caller: &Caller,
        id: String,
        postings: Vec<Posting>,
        mode: Mode,
    ) -> Result<Vec<Transaction>, Error> {
        let operation = decode::operation(id, postings, mode, &self.assets, &self.ids).await?;
        self.hand_in(caller, Command::Post(operation)).await
    }

    /// Captures or releases what an operation holds; a repeat answers what it came to.
    pub async fn end_hold(
        &self,
        caller: &Caller,
        operation: String,
        action: Action,
    ) -> Result<Vec<Transaction>, Error> {
        let end = EndHold { operation, action };
        self.hand_in(caller, Command::EndHold(end)).await
    }

    /// Moves money of an operation back; a repeat answers what the first did.
    pub async fn refund(
        &self,
        caller: &Caller,
        request: RefundRequest,
    ) -> Result<Vec<Transaction>, Error> {
        let refund = decode::refund(request)?;
        self.hand_in(caller, Command::Refund(refund)).await
    }

    async fn hand_in(&self, caller: &Caller, command: Command) -> Result<Vec<Transaction>, Error> {
        let request = posting::Posting {
            command,
            actor: access::actor(caller),
            key: None,
        };
        match self.postings.post(request).await? {
            Answer::Done { transactions, .. } => Ok(transactions),
            Answer::Replay(_) => Ok(Vec::new()),
        }
    }

    /// What an operation did.
    pub async fn get(&self, id: String) -> Result<Vec<Transaction>, Error> {
        let mut conn = self.pool.acquire().await?;
        let found = repo::find_operations(&mut conn, &[id]).await?;
        if found.is_empty() {
            return Err(Error::OperationNotFound);
        }
        Ok(found)
    }
}
