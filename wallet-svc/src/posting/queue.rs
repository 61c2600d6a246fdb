//! The bounded queue of postings: back-pressure reaches the callers, never Postgres.

use std::time::Duration;

use platform::{
    error::{Code, Failure},
    idempotency::{self, Key},
};
use tokio::sync::{mpsc, oneshot};
use tracing::Span;

use super::heartbeat::Heartbeat;
use crate::{
    ledger::{Command, LedgerError},
    transaction::model::Transaction,
};

/// Postings that may wait: about half a second of work.
const QUEUE_CAPACITY: usize = 4096;

/// A command with its caller.
#[derive(Debug, Clone)]
pub(crate) struct Posting {
    pub command: Command,
    /// The caller, as the history of transactions names it: `user:<id>`.
    pub actor: String,
    /// Makes the request safe to repeat.
    pub key: Option<Key>,
}

/// The outcome of an accepted posting.
#[derive(Debug)]
pub(crate) enum PostingOutcome {
    /// It is committed.
    Committed {
        /// The transactions that it created or changed, now or when it was first accepted.
        transactions: Vec<Transaction>,
        /// Whether anything changed now.
        changed: bool,
    },
    /// Its idempotency key was used before; holds the recorded [`super::TransactionList`], encoded.
    Replayed(Vec<u8>),
}

/// Why a posting had no effect.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PostingError {
    /// The ledger rejects it.
    #[error(transparent)]
    Rejected(#[from] LedgerError),
    /// Its idempotency key was used for another request, or is in use.
    #[error(transparent)]
    Key(#[from] idempotency::Error),
    /// The queue is full or the database is unavailable.
    #[error("the ledger is unavailable")]
    Unavailable,
    /// The reply of the database is lost: the posting may have taken effect.
    #[error("the outcome of the posting is not known")]
    Unknown,
    /// An unexpected error, which the worker has logged.
    #[error("the ledger could not write the posting")]
    Internal,
}

/// The result of a posting.
pub(crate) type PostingResult = Result<PostingOutcome, PostingError>;

/// A queued posting with its caller.
pub(super) struct PostingRequest {
    pub posting: Posting,
    pub span: Span,
    pub reply: oneshot::Sender<PostingResult>,
}

/// The sending side of the queue. Cloning is cheap.
#[derive(Debug, Clone)]
pub(crate) struct PostingQueue {
    requests: mpsc::Sender<PostingRequest>,
    heartbeat: Heartbeat,
}

/// Makes a queue for a worker with this heartbeat.
pub(super) fn queue(heartbeat: Heartbeat) -> (PostingQueue, mpsc::Receiver<PostingRequest>) {
    let (requests, receiver) = mpsc::channel(QUEUE_CAPACITY);
    let queue = PostingQueue {
        requests,
        heartbeat,
    };
    (queue, receiver)
}

impl PostingQueue {
    /// Enqueues a posting and waits until it is committed or rejected.
    pub(crate) async fn post(&self, posting: Posting) -> PostingResult {
        let (reply, result) = oneshot::channel();
        let request = PostingRequest {
            posting,
            span: Span::current(),
            reply,
        };
        let queued = self.requests.try_send(request);
        queued.map_err(|_full_or_closed| PostingError::Unavailable)?;
        result.await.unwrap_or(Err(PostingError::Unavailable))
    }

    /// Fails if the worker has ended or does not get on, for readiness.
    pub(crate) fn check_worker(&self) -> anyhow::Result<()> {
        anyhow::ensure!(!self.requests.is_closed(), "the worker has ended");
        self.heartbeat.check()
    }
}

impl From<PostingError> for Failure {
    fn from(error: PostingError) -> Self {
        match error {
            PostingError::Rejected(error) => error.into(),
            PostingError::Key(error) => error.into(),
            PostingError::Unavailable => {
                Self::new(Code::Unavailable, error.to_string()).retry_after(Duration::from_secs(1))
            }
            PostingError::Unknown => Self::new(Code::Timeout, error.to_string()),
            PostingError::Internal => Self::internal(error),
        }
    }
}
