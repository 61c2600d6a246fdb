//! The bounded queue of postings: back-pressure reaches the callers, never Postgres.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use platform::{
    error::{Code, Failure},
    grpc::deadline,
    idempotency::{self, Key},
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot},
    time::Instant,
};
use tokio_util::sync::CancellationToken;
use tracing::Span;

use super::heartbeat::Heartbeat;
use crate::{
    ledger::{Command, LedgerError},
    transaction::model::Transaction,
};

/// The legs of the postings that may wait: about half a second of work.
const CAPACITY: u16 = 4096;
/// The most postings in a batch, and the most legs, unless one posting alone has more.
const MAX_BATCH: usize = 256;
const MAX_BATCH_LEGS: u32 = 512;

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
    reply: oneshot::Sender<PostingResult>,
    /// When the caller stops waiting.
    deadline: Option<Instant>,
    /// Room in the queue, one for each leg. Taken until there is a reply.
    room: OwnedSemaphorePermit,
}

impl PostingRequest {
    /// Whether nobody waits for the result any longer.
    pub(super) fn is_expired(&self, now: Instant) -> bool {
        self.reply.is_closed() || self.deadline.is_some_and(|deadline| deadline <= now)
    }

    /// Replies to the caller.
    pub(super) fn reply(self, result: PostingResult) {
        // The caller may be gone; the posting stays.
        let _ = self.reply.send(result);
    }

    fn legs(&self) -> u32 {
        u32::try_from(self.room.num_permits()).unwrap_or(u32::MAX)
    }
}

/// The sending side of the queue. Cloning is cheap.
#[derive(Debug, Clone)]
pub(crate) struct PostingQueue {
    requests: mpsc::Sender<PostingRequest>,
    room: Arc<Semaphore>,
    heartbeat: Heartbeat,
}

/// A posting that is enqueued. Dropping it before it is decided takes it out.
#[derive(Debug)]
pub(crate) struct Enqueued(oneshot::Receiver<PostingResult>);

impl Enqueued {
    /// Waits until the posting is committed or rejected.
    pub(crate) async fn result(self) -> PostingResult {
        self.0.await.unwrap_or(Err(PostingError::Unavailable))
    }
}

/// The receiving side of the queue.
pub(super) struct PostingReceiver {
    requests: mpsc::Receiver<PostingRequest>,
    /// Received, and not in a batch yet.
    received: VecDeque<PostingRequest>,
}

/// Makes a queue for a worker with this heartbeat.
pub(super) fn queue(heartbeat: Heartbeat) -> (PostingQueue, PostingReceiver) {
    let (sender, requests) = mpsc::channel(usize::from(CAPACITY));
    let queue = PostingQueue {
        requests: sender,
        room: Arc::new(Semaphore::new(usize::from(CAPACITY))),
        heartbeat,
    };
    let receiver = PostingReceiver {
        requests,
        received: VecDeque::new(),
    };
    (queue, receiver)
}

impl PostingQueue {
    /// Enqueues a posting and waits until it is committed or rejected. A posting that is not decided by
    /// the deadline of the current request is dropped.
    pub(crate) async fn post(&self, posting: Posting) -> PostingResult {
        self.enqueue(posting)?.result().await
    }

    /// Enqueues a posting behind those that were enqueued before.
    pub(crate) fn enqueue(&self, posting: Posting) -> Result<Enqueued, PostingError> {
        let (reply, result) = oneshot::channel();
        let legs = u32::try_from(posting.command.legs()).unwrap_or(u32::MAX);
        let room = self.room.clone();
        let room = room.try_acquire_many_owned(legs.clamp(1, u32::from(CAPACITY)));
        let request = PostingRequest {
            posting,
            span: Span::current(),
            reply,
            deadline: deadline::remaining().map(|remaining| Instant::now() + remaining),
            room: room.map_err(|_full| PostingError::Unavailable)?,
        };
        let queued = self.requests.try_send(request);
        queued.map_err(|_full_or_closed| PostingError::Unavailable)?;
        Ok(Enqueued(result))
    }

    /// Fails if the worker has ended or does not get on, for readiness.
    pub(crate) fn check_worker(&self) -> anyhow::Result<()> {
        anyhow::ensure!(!self.requests.is_closed(), "the worker has ended");
        self.heartbeat.check()
    }
}

impl PostingReceiver {
    /// Returns the next batch: what is queued, without waiting for more. Returns `None` once stopped,
    /// when all is taken.
    pub(super) async fn next_batch(
        &mut self,
        stop: &CancellationToken,
    ) -> Option<Vec<PostingRequest>> {
        while self.received.is_empty() {
            let mut requests = Vec::with_capacity(MAX_BATCH);
            let received = tokio::select! {
                biased;
                received = self.requests.recv_many(&mut requests, MAX_BATCH) => received,
                () = stop.cancelled(), if !self.requests.is_closed() => {
                    self.requests.close();
                    continue;
                }
            };
            if received == 0 {
                return None;
            }
            self.received = requests.into();
        }
        let mut legs = 0;
        let fits = |request: &&PostingRequest| {
            legs += request.legs();
            legs <= MAX_BATCH_LEGS
        };
        let size = self.received.iter().take_while(fits).count();
        Some(self.received.drain(..size.max(1)).collect())
    }

    /// Takes all that is queued.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = PostingRequest> {
        let queued = std::iter::from_fn(|| self.requests.try_recv().ok());
        self.received.drain(..).chain(queued)
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

#[cfg(test)]
pub(super) mod tests {
    use futures::future::{FutureExt as _, join_all};
    use platform::{ids::Id, money::Amount};
    use uuid::Uuid;

    use super::*;
    use crate::{
        asset::model::AssetCode,
        ledger::{Leg, Mode, Operation},
        transaction::{metadata::Metadata, model::Sides},
    };

    pub(in crate::posting) fn posting(legs: usize) -> Posting {
        let wallet = Id::new(Uuid::from_u128(1));
        let leg = Leg {
            id: Id::new(Uuid::from_u128(2)),
            code: "pay".to_owned(),
            asset: AssetCode::stored("usd"),
            amount: Amount::ZERO,
            sides: Sides {
                debit: wallet,
                credit: wallet,
            },
            description: None,
            metadata: Metadata::default(),
            returns_money: false,
        };
        Posting {
            command: Command::Post(Operation {
                id: "operation".to_owned(),
                legs: vec![leg; legs],
                mode: Mode::Post,
                not_after: None,
            }),
            actor: "user:1".to_owned(),
            key: None,
        }
    }

    async fn batch_sizes(receiver: &mut PostingReceiver) -> Vec<usize> {
        let stop = CancellationToken::new();
        stop.cancel();
        let mut sizes = Vec::new();
        while let Some(batch) = receiver.next_batch(&stop).await {
            sizes.push(batch.len());
        }
        sizes
    }

    #[tokio::test]
    async fn batches_are_limited_in_postings_and_legs() {
        let (queue, mut receiver) = queue(Heartbeat::default());
        let legs = [1, 500, 11, 1, 1_000, 1, 1].into_iter();
        let postings = legs.chain(std::iter::repeat_n(1, 300));
        let waiting = join_all(postings.map(|legs| queue.post(posting(legs))));
        let (_, sizes) = tokio::join!(waiting, batch_sizes(&mut receiver));
        assert_eq!(sizes, [3, 1, 1, 251, 51]);
    }

    #[tokio::test]
    async fn a_queue_has_room_for_so_many_legs() {
        let (queue, mut receiver) = queue(Heartbeat::default());
        let mut waiting: Vec<_> = (0..4)
            .map(|_| Box::pin(queue.post(posting(1_000))))
            .collect();
        for one in &mut waiting {
            assert!(one.now_or_never().is_none());
        }
        let full = queue.post(posting(1_000)).now_or_never();
        assert!(matches!(full, Some(Err(PostingError::Unavailable))));
        let small = queue.post(posting(96)).now_or_never();
        assert!(small.is_none(), "there is room for it");
        let drained: Vec<_> = receiver.drain().collect();
        let expired = drained.iter().filter(|one| one.is_expired(Instant::now()));
        assert_eq!((drained.len(), expired.count()), (5, 1));
        drop(drained);
        // More than the queue has room for takes all of it.
        assert!(queue.post(posting(5_000)).now_or_never().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_posting_expires_with_its_request() {
        let (queue, mut receiver) = queue(Heartbeat::default());
        let deadline = Instant::now() + Duration::from_secs(3);
        let posted = deadline::within(Some(deadline), queue.post(posting(1)));
        let mut posted = std::pin::pin!(posted);
        assert!(posted.as_mut().now_or_never().is_none());
        let request = receiver.drain().next().unwrap();
        assert!(!request.is_expired(Instant::now()));
        assert!(request.is_expired(deadline));
    }
}
