//! The use cases of operations.

use platform::{auth::Caller, ids::Ids};
use proto::wallet::v1::RefundRequest;
use sqlx::PgPool;

use super::decode::{self, OperationRequest};
use crate::{
    asset::directory::AssetDirectory,
    error::Error,
    ledger::{Command, EndHold},
    posting::{self, Posting, PostingError, PostingQueue, PostingResult, TransactionList},
    transaction::{model::Action, repo},
};

/// The use cases of operations.
#[derive(Debug, Clone)]
pub(crate) struct Operations {
    pool: PgPool,
    queue: PostingQueue,
    assets: AssetDirectory,
    ids: Ids,
}

impl Operations {
    /// Makes the use cases; they post through this queue.
    pub(crate) const fn new(
        pool: PgPool,
        queue: PostingQueue,
        assets: AssetDirectory,
        ids: Ids,
    ) -> Self {
        Self {
            pool,
            queue,
            assets,
            ids,
        }
    }

    /// Posts or holds all transfers or none; a repeat returns the result of the first.
    pub(crate) async fn post(
        &self,
        caller: &Caller,
        request: OperationRequest,
    ) -> Result<TransactionList, Error> {
        let operation = decode::operation(request, &self.assets, &self.ids).await?;
        self.enqueue(caller, Command::Post(operation)).await
    }

    /// Posts each operation by itself, in this order.
    pub(crate) async fn post_many(
        &self,
        caller: &Caller,
        requests: Vec<OperationRequest>,
    ) -> Vec<Result<TransactionList, Error>> {
        let mut operations = Vec::with_capacity(requests.len());
        for request in requests {
            operations.push(decode::operation(request, &self.assets, &self.ids).await);
        }
        // All are in the queue before the first is waited for, so that they share batches.
        let enqueued = operations.into_iter().map(|operation| {
            let posting = posting(caller, Command::Post(operation?));
            Ok(self.queue.enqueue(posting)?)
        });
        let enqueued: Vec<Result<_, Error>> = enqueued.collect();
        let mut results = Vec::with_capacity(enqueued.len());
        for operation in enqueued {
            results.push(match operation {
                Ok(operation) => reply(operation.result().await),
                Err(error) => Err(error),
            });
        }
        results
    }

    /// Decides an operation like [`Operations::post`], and writes nothing.
    pub(crate) async fn dry_run(&self, request: OperationRequest) -> Result<(), Error> {
        let operation = decode::operation(request, &self.assets, &self.ids).await?;
        let command = Command::Post(operation);
        let mut conn = self.pool.acquire().await?;
        let mut book = posting::read_committed(&mut conn, &command, &self.ids).await?;
        book.decide(&command).map_err(PostingError::Rejected)?;
        Ok(())
    }

    /// Captures or releases a hold; a repeat returns the result of the first.
    pub(crate) async fn end_hold(
        &self,
        caller: &Caller,
        operation: String,
        action: Action,
    ) -> Result<TransactionList, Error> {
        let end = EndHold { operation, action };
        self.enqueue(caller, Command::EndHold(end)).await
    }

    /// Refunds an operation; a repeat returns the result of the first.
    pub(crate) async fn refund(
        &self,
        caller: &Caller,
        request: RefundRequest,
    ) -> Result<TransactionList, Error> {
        let refund = decode::refund(request)?;
        self.enqueue(caller, Command::Refund(refund)).await
    }

    async fn enqueue(&self, caller: &Caller, command: Command) -> Result<TransactionList, Error> {
        reply(self.queue.post(posting(caller, command)).await)
    }

    /// Returns the transactions of an operation.
    pub(crate) async fn get(&self, id: String) -> Result<TransactionList, Error> {
        let mut conn = self.pool.acquire().await?;
        let found = repo::find_operations(&mut conn, &[id]).await?;
        if found.is_empty() {
            return Err(Error::OperationNotFound);
        }
        Ok(TransactionList::of(&found))
    }
}

fn posting(caller: &Caller, command: Command) -> Posting {
    Posting {
        command,
        actor: caller.name(),
        key: None,
    }
}

fn reply(result: PostingResult) -> Result<TransactionList, Error> {
    Ok(result?.into_reply()?.message)
}
