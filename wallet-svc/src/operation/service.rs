//! What can be done with operations.

use platform::{auth::Caller, ids::Ids};
use proto::wallet::v1::PostRequest;
use sqlx::PgPool;

use super::decode;
use crate::{
    access,
    asset::directory::AssetDirectory,
    error::Error,
    ledger::Command,
    posting::{Answer, Posting, Postings},
    transaction::{model::Transaction, repo},
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

    /// Posts all transfers or none; a repeat answers what the first did.
    pub async fn post(
        &self,
        caller: &Caller,
        request: PostRequest,
    ) -> Result<Vec<Transaction>, Error> {
        let operation = decode::operation(request, &self.assets, &self.ids).await?;
        let posting = Posting {
            command: Command::Post(operation),
            actor: access::actor(caller),
            key: None,
        };
        match self.postings.post(posting).await? {
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
