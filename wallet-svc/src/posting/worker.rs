//! The posting worker: takes what is queued, posts it in batches, replies to the callers.

use std::{collections::VecDeque, io, panic::AssertUnwindSafe, time::Duration};

use futures::FutureExt as _;
use platform::{
    clock::Clock,
    ids::Ids,
    pg::{self, is_transient},
};
use sqlx::PgPool;
use tokio::{
    runtime,
    task::{JoinHandle, spawn_blocking},
};
use tokio_util::sync::CancellationToken;

use super::{
    batch::Batch,
    heartbeat::Heartbeat,
    policy::{Attempt, Basis, Cooldown, Next, is_away, is_contention, next},
    queue::{PostingError, PostingQueue, PostingReceiver, PostingResult, queue},
    recent::Recent,
    retries::Retries,
    session::Session,
};

/// How long an attempt may take: longer than the server lets a statement run.
const ATTEMPT_TIMEOUT: Duration = Duration::from_millis(2_500);

/// Posts batches; one for each process.
pub(crate) struct PostingWorker {
    queue: PostingReceiver,
    pool: PgPool,
    clock: Clock,
    ids: Ids,
    /// Kept from batch to batch, until an error ends it.
    session: Option<Session>,
    cooldown: Cooldown,
    recent: Recent,
    heartbeat: Heartbeat,
}

impl PostingWorker {
    /// Makes a worker and the queue that it serves. The pool comes from [`super::connect`].
    pub(crate) fn new(pool: PgPool, clock: Clock, ids: Ids) -> (PostingQueue, Self) {
        let heartbeat = Heartbeat::default();
        let (sender, queue) = queue(heartbeat.clone());
        let worker = Self {
            queue,
            pool,
            clock,
            ids,
            session: None,
            cooldown: Cooldown::default(),
            recent: Recent::new(),
            heartbeat,
        };
        (sender, worker)
    }

    /// Runs on a thread of its own: on the shared ones each round trip of a batch would wait until the
    /// requests before it are polled.
    pub(crate) fn spawn(self, stop: CancellationToken) -> io::Result<JoinHandle<()>> {
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        Ok(spawn_blocking(move || runtime.block_on(self.run(stop))))
    }

    /// Posts until stopped, then what is still queued.
    pub(crate) async fn run(mut self, stop: CancellationToken) {
        while let Some(requests) = self.queue.next_batch(&stop).await {
            let size = u32::try_from(requests.len()).unwrap_or(u32::MAX);
            metrics::histogram!("wallet_batch_size").record(f64::from(size));
            // What was posted a moment ago is repeated most likely, and is looked up under locks: the
            // others need not wait for that.
            let (repeats, fresh) = requests
                .into_iter()
                .partition(|request| self.recent.contains(&request.posting));
            self.post_all([Batch::new(fresh), Batch::of_repeats(repeats)])
                .await;
        }
    }

    /// Posts batches, and the parts of those that failed.
    async fn post_all(&mut self, batches: impl Into<VecDeque<Batch>>) {
        let mut waiting = batches.into();
        while let Some(mut batch) = waiting.pop_front() {
            if batch.requests.is_empty() {
                continue;
            }
            self.heartbeat.start();
            match self.post(&mut batch).await {
                Ok(results) => self.reply(batch, results),
                Err(error) if batch.unknown().is_none() && batch.is_divisible(&error) => {
                    let size = batch.requests.len();
                    tracing::warn!(%error, size, "posting worker: batch failed, posting its parts");
                    waiting.extend(self.divide(batch, &error).await);
                }
                Err(error) => {
                    fail(batch, &error);
                    if is_away(&error) {
                        self.reject_waiting(&mut waiting);
                    }
                }
            }
        }
        self.heartbeat.end();
    }

    async fn post(&mut self, batch: &mut Batch) -> Result<Vec<PostingResult>, sqlx::Error> {
        let mut retries = Retries::new(batch.is_contended());
        match self.settle(batch, &mut retries).await {
            Err(error) => self.resolve(batch, &mut retries, error).await,
            settled => settled,
        }
    }

    /// Tries the batch on cached rows, then under locks until the limits of retrying.
    async fn settle(
        &mut self,
        batch: &mut Batch,
        retries: &mut Retries,
    ) -> Result<Vec<PostingResult>, sqlx::Error> {
        let mut basis = self.first_basis(batch);
        loop {
            let attempt = self.attempt(batch, basis).await;
            match next(basis, attempt) {
                Next::Finish(results) => return Ok(results),
                Next::Try(next) => basis = next,
                // The others are not kept waiting for the row that one of them needs.
                Next::Retry(error) if batch.is_divisible(&error) => return Err(error),
                Next::Retry(error) => retries.wait(error).await?,
                Next::Fail(error) => return Err(error),
            }
        }
    }

    /// Divides a batch that failed with this error.
    async fn divide(&mut self, batch: Batch, error: &sqlx::Error) -> Vec<Batch> {
        if !is_contention(error) {
            return batch.split().collect();
        }
        let Ok(mut session) = self.open_session().await else {
            return batch.split().collect();
        };
        let locked = contain(batch.find_locked(&mut session, &self.ids)).await;
        match locked {
            Ok(locked) => {
                self.session = Some(session);
                batch.divide(&locked, &self.ids)
            }
            Err(error) => {
                tracing::debug!(%error, "posting worker: locked balances not found, session ended");
                session.close();
                batch.split().collect()
            }
        }
    }

    /// Looks up the pending commit of a batch that failed with this error.
    async fn resolve(
        &mut self,
        batch: &mut Batch,
        retries: &mut Retries,
        failure: sqlx::Error,
    ) -> Result<Vec<PostingResult>, sqlx::Error> {
        while batch.unknown().is_some() {
            let error = match self.open_session().await {
                Ok(mut session) => match contain(batch.resolve(&mut session)).await {
                    Ok(committed) => {
                        self.session = Some(session);
                        return committed.ok_or(failure);
                    }
                    Err(error) => {
                        session.close();
                        error
                    }
                },
                Err(error) => error,
            };
            retries.wait(error).await?;
        }
        Err(failure)
    }

    async fn open_session(&mut self) -> Result<Session, sqlx::Error> {
        match self.session.take() {
            Some(session) => Ok(session),
            None => Session::open(&self.pool, &self.clock).await,
        }
    }

    fn first_basis(&mut self, batch: &Batch) -> Basis {
        let basis = self.cooldown.start();
        if self.session.is_none() || batch.needs_locks() {
            Basis::Locked
        } else {
            basis
        }
    }

    /// Tries the batch once. An error other than a conflict or duplicate ends the session.
    async fn attempt(&mut self, batch: &mut Batch, basis: Basis) -> Attempt {
        let mut session = match self.open_session().await {
            Ok(session) => session,
            Err(error) => return Attempt::Failed(error),
        };
        let attempt = contain(batch.attempt(basis, &mut session, &self.ids)).await;
        let attempt = attempt.unwrap_or_else(Attempt::from);
        match &attempt {
            Attempt::Failed(error) => {
                tracing::debug!(%error, ?basis, "posting worker: attempt failed, session ended");
                session.close();
                return attempt;
            }
            Attempt::Conflict(error) => {
                tracing::debug!(%error, ?basis, "posting worker: version conflict");
                metrics::counter!("wallet_batch_conflicts_total").increment(1);
                session.cache.clear();
                self.cooldown.conflict();
            }
            Attempt::Duplicate(_) | Attempt::Incomplete | Attempt::Done(_) => {}
        }
        self.session = Some(session);
        attempt
    }

    fn reply(&mut self, batch: Batch, results: Vec<PostingResult>) {
        for (request, result) in batch.requests.into_iter().zip(results) {
            if result.is_ok() {
                self.recent.insert(&request.posting);
            }
            request.reply(result);
        }
    }

    /// Rejects all that waits while the database is unavailable: each batch would wait for it again.
    fn reject_waiting(&mut self, waiting: &mut VecDeque<Batch>) {
        let parts = waiting.drain(..).flat_map(|batch| batch.requests);
        for request in parts.chain(self.queue.drain()) {
            request.reply(Err(PostingError::Unavailable));
        }
    }
}

/// Bounds an attempt in time, and turns a panic into an error of its batch.
async fn contain<T>(
    attempt: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, sqlx::Error> {
    let attempt = pg::within(ATTEMPT_TIMEOUT, attempt);
    let result = AssertUnwindSafe(attempt).catch_unwind().await;
    result.unwrap_or_else(|_panic| Err(sqlx::Error::Encode("the attempt panicked".into())))
}

/// Replies to the callers of a batch that failed with this error.
fn fail(batch: Batch, error: &sqlx::Error) {
    let size = batch.requests.len();
    let reason = if let Some(transactions) = batch.unknown() {
        tracing::warn!(%error, ?transactions, "posting worker: outcome of a commit not known, batch rejected");
        || PostingError::Unknown
    } else if is_transient(error) {
        tracing::warn!(%error, size, "posting worker: database unavailable, batch rejected");
        || PostingError::Unavailable
    } else {
        tracing::error!(%error, "posting worker: posting failed");
        || PostingError::Internal
    };
    for request in batch.requests {
        request.reply(Err(reason()));
    }
}

#[cfg(test)]
mod tests {
    use futures::future::join_all;
    use tokio::time::Instant;

    use super::*;
    use crate::posting::{connect, queue::tests::posting};

    #[tokio::test(start_paused = true)]
    async fn all_that_waits_is_rejected_when_the_database_is_away() {
        let pool = connect("postgres://127.0.0.1:1/none").unwrap();
        let (queue, worker) = PostingWorker::new(pool, Clock::system(), Ids::seeded(1));
        let (started, stop) = (Instant::now(), CancellationToken::new());
        // Several batches.
        let waiting = join_all((0..1_000).map(|_| queue.post(posting(1))));
        let results = async {
            let results = waiting.await;
            stop.cancel();
            results
        };
        let (results, ()) = tokio::join!(results, worker.run(stop.clone()));
        let unavailable = |result| matches!(result, Err(PostingError::Unavailable));
        assert!(results.into_iter().all(unavailable));
        let elapsed = started.elapsed();
        assert!(elapsed < Duration::from_secs(4), "{elapsed:?}");
    }
}
