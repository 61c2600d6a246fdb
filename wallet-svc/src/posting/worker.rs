//! The posting worker: takes what is queued, posts it in batches, replies to the callers.

use std::{collections::HashSet, io, mem, panic::AssertUnwindSafe, time::Duration};

use futures::FutureExt as _;
use platform::{
    backoff::Backoff,
    ids::Ids,
    pg::{self, is_transient},
};
use sqlx::{PgPool, error::DatabaseError};
use tokio::{
    runtime,
    sync::mpsc,
    task::{JoinHandle, spawn_blocking},
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

use super::{
    batch::Batch,
    heartbeat::Heartbeat,
    policy::{Attempt, Basis, Cooldown, Next, next},
    queue::{PostingError, PostingQueue, PostingRequest, PostingResult, queue},
    session::Session,
};

/// The most postings in a batch.
const MAX_BATCH: usize = 256;
/// How long an attempt may take: longer than the server lets a statement run.
const ATTEMPT_TIMEOUT: Duration = Duration::from_millis(2_500);
/// How long a batch is retried while errors are transient.
const RETRY_TIMEOUT: Duration = Duration::from_millis(2_500);
/// The pauses between attempts.
const RETRY: Backoff = Backoff::new(Duration::from_millis(2), Duration::from_millis(250));
/// How often a batch is retried after another replica was first with an operation or key.
const MAX_DUPLICATES: u32 = 2;

/// Posts batches; one for each process.
pub(crate) struct PostingWorker {
    queue: mpsc::Receiver<PostingRequest>,
    pool: PgPool,
    ids: Ids,
    /// Kept from batch to batch, until an error ends it.
    session: Option<Session>,
    cooldown: Cooldown,
    heartbeat: Heartbeat,
}

impl PostingWorker {
    /// Makes a worker and the queue that it serves. The pool comes from [`super::connect`].
    pub(crate) fn new(pool: PgPool, ids: Ids) -> (PostingQueue, Self) {
        let heartbeat = Heartbeat::default();
        let (sender, queue) = queue(heartbeat.clone());
        let worker = Self {
            queue,
            pool,
            ids,
            session: None,
            cooldown: Cooldown::default(),
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
        let mut requests = Vec::with_capacity(MAX_BATCH);
        loop {
            let taken = tokio::select! {
                biased;
                taken = self.queue.recv_many(&mut requests, MAX_BATCH) => taken,
                () = stop.cancelled(), if !self.queue.is_closed() => {
                    self.queue.close();
                    continue;
                }
            };
            if taken == 0 {
                return;
            }
            let size = u32::try_from(taken).unwrap_or(u32::MAX);
            metrics::histogram!("wallet_batch_size").record(f64::from(size));
            self.post_all(mem::take(&mut requests)).await;
        }
    }

    /// Posts the requests in batches in which no idempotency key is repeated: a repeat has to find the
    /// record of the first.
    async fn post_all(&mut self, mut requests: Vec<PostingRequest>) {
        while !requests.is_empty() {
            let mut seen = HashSet::new();
            let is_first = |request: &PostingRequest| {
                let key = request.posting.key.as_ref();
                key.is_none_or(|key| seen.insert(*key.scope()))
            };
            let (batch, repeats) = requests.into_iter().partition(is_first);
            self.post(Batch::new(batch)).await;
            requests = repeats;
        }
        self.heartbeat.end();
    }

    async fn post(&mut self, mut batch: Batch) {
        self.heartbeat.start();
        let mut retries = Retries::new();
        let settled = match self.settle(&mut batch, &mut retries).await {
            Err(error) => self.resolve(&mut batch, &mut retries, error).await,
            settled => settled,
        };
        match settled {
            Ok(results) => reply(batch, results),
            Err(error) if batch.unknown().is_some() => fail_unknown(batch, &error),
            Err(error) if batch.requests.len() > 1 && !is_transient(&error) => {
                let size = batch.requests.len();
                tracing::warn!(%error, size, "posting worker: batch failed, posting one by one");
                for request in batch.requests {
                    Box::pin(self.post(Batch::new(vec![request]))).await;
                }
            }
            Err(error) => fail(batch, &error),
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
                Next::Retry(error) => retries.wait(error).await?,
                Next::Fail(error) => return Err(error),
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
            None => Session::open(&self.pool).await,
        }
    }

    fn first_basis(&mut self, batch: &Batch) -> Basis {
        let basis = self.cooldown.start();
        if self.session.is_none() || batch.needs_existing() {
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
}

/// Bounds an attempt in time, and turns a panic into an error of its batch.
async fn contain<T>(
    attempt: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, sqlx::Error> {
    let attempt = pg::within(ATTEMPT_TIMEOUT, attempt);
    let result = AssertUnwindSafe(attempt).catch_unwind().await;
    result.unwrap_or_else(|_panic| Err(sqlx::Error::Encode("the attempt panicked".into())))
}

/// How often and for how long a batch is retried under locks.
struct Retries {
    deadline: Instant,
    pauses: Backoff,
    duplicates: u32,
}

impl Retries {
    fn new() -> Self {
        Self {
            deadline: Instant::now() + RETRY_TIMEOUT,
            pauses: RETRY,
            duplicates: 0,
        }
    }

    /// Waits until the next attempt; gives the error back if there is none.
    async fn wait(&mut self, error: sqlx::Error) -> Result<(), sqlx::Error> {
        let database = error.as_database_error();
        if database.is_some_and(DatabaseError::is_unique_violation) {
            self.duplicates += 1;
            return if self.duplicates > MAX_DUPLICATES {
                Err(error)
            } else {
                Ok(())
            };
        }
        let pause = self.pauses.next_delay();
        if Instant::now() + pause >= self.deadline {
            return Err(error);
        }
        metrics::counter!("wallet_batch_retries_total").increment(1);
        tracing::debug!(%error, "posting worker: batch failed, retrying");
        sleep(pause).await;
        Ok(())
    }
}

fn reply(batch: Batch, results: Vec<PostingResult>) {
    for (request, result) in batch.requests.into_iter().zip(results) {
        // The caller may be gone; the posting stays.
        let _ = request.reply.send(result);
    }
}

fn fail_unknown(batch: Batch, error: &sqlx::Error) {
    let transactions = batch.unknown().unwrap_or_default();
    tracing::warn!(%error, ?transactions, "posting worker: outcome of a commit not known, batch rejected");
    for request in batch.requests {
        let _ = request.reply.send(Err(PostingError::Unknown));
    }
}

fn fail(batch: Batch, error: &sqlx::Error) {
    let size = batch.requests.len();
    let is_transient = is_transient(error);
    if is_transient {
        tracing::warn!(%error, size, "posting worker: database unavailable, batch rejected");
    } else {
        tracing::error!(%error, "posting worker: posting failed");
    }
    for request in batch.requests {
        let error = if is_transient {
            PostingError::Unavailable
        } else {
            PostingError::Internal
        };
        let _ = request.reply.send(Err(error));
    }
}
