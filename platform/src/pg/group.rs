//! Transactions that many requests share: what arrives while one is written waits, and is written together in the
//! next. A statement that inserts ten rows costs little more than one that inserts one, and so does a commit.
//!
//! A request that is alone is written at once: nobody waits for others to come.

use std::{
    fmt,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::{FutureExt as _, future::join_all};
use sqlx::{PgConnection, PgPool};
use tokio::{sync::oneshot, time::Instant};

use super::{tx, within};
use crate::error::{Code, Failure};

/// Transactions at a time. A second one beside each would halve the number of requests that share one, and cost
/// more than it saves in waiting for the disk: it is begun only while the first is [`SLOW`].
const WRITERS: usize = 2;
/// How long a transaction may keep others waiting: one of its items may need a row that somebody has locked.
const SLOW: Duration = Duration::from_millis(50);
/// The most requests of a transaction.
const MAX_SIZE: usize = 64;
/// The most requests that wait: a tenth of a second of work. A caller's deadline is not looked at again once its
/// turn has come.
const MAX_WAITING: usize = 256;
/// How long a transaction may take: longer than the server lets a statement run.
const LIMIT: Duration = Duration::from_secs(10);

/// A write of a request that can be done together with those of others. Their items have nothing in common, so
/// that the order among them does not matter.
pub trait GroupWrite: Send + Sync + 'static {
    /// What one request writes.
    type Item: Send + Sync + 'static;
    /// What it gets.
    type Output: Send + 'static;

    /// Writes the items in the transaction, and returns an output for each. After an error, each item is written
    /// again in a transaction of its own.
    fn write_in_tx(
        &self,
        conn: &mut PgConnection,
        items: &[Self::Item],
    ) -> impl Future<Output = Result<Vec<Self::Output>, sqlx::Error>> + Send;
}

/// Why an item was not written, or is not known to be.
#[derive(Debug, Clone, thiserror::Error)]
pub enum GroupError {
    /// Too many requests wait.
    #[error("too many requests wait for the database")]
    Full,
    /// The transaction was given up by a fault of the program, which is logged.
    #[error("the transaction of the request was given up")]
    Lost,
    /// An error of the database.
    #[error(transparent)]
    Database(Arc<sqlx::Error>),
}

/// The requests of one kind of write. Cloning is cheap.
pub struct Group<W: GroupWrite>(Arc<Inner<W>>);

struct Inner<W: GroupWrite> {
    pool: PgPool,
    write: W,
    queue: Mutex<Queue<W>>,
}

struct Queue<W: GroupWrite> {
    waiting: Vec<Request<W>>,
    /// Tasks that take what waits until nothing does.
    writers: usize,
    /// When one of them took requests last.
    taken_at: Instant,
}

struct Request<W: GroupWrite> {
    item: W::Item,
    reply: Reply<W>,
}

type Reply<W> = oneshot::Sender<Result<<W as GroupWrite>::Output, GroupError>>;

/// Why a transaction failed.
enum Fault {
    /// It has no effect, and may have none because of one of its items.
    RolledBack(sqlx::Error),
    /// There is no connection, or the outcome of the commit is unknown.
    Unavailable(sqlx::Error),
}

impl<W: GroupWrite> fmt::Debug for Group<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group").finish_non_exhaustive()
    }
}

impl<W: GroupWrite> Clone for Group<W> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<W: GroupWrite> Group<W> {
    /// Creates a group that writes to the database of the pool.
    pub fn new(pool: PgPool, write: W) -> Self {
        let queue = Mutex::new(Queue {
            waiting: Vec::new(),
            writers: 0,
            taken_at: Instant::now(),
        });
        Self(Arc::new(Inner { pool, write, queue }))
    }

    /// Writes an item, with those that arrive meanwhile. If the caller is cancelled while the item waits, it is not
    /// written; while it is being written, it may be.
    pub async fn write(&self, item: W::Item) -> Result<W::Output, GroupError> {
        let (reply, result) = oneshot::channel();
        if self.0.enqueue(Request { item, reply })? {
            let inner = self.0.clone();
            tokio::spawn(async move { inner.write_all().await });
        }
        result.await.unwrap_or(Err(GroupError::Lost))
    }
}

impl<W: GroupWrite> Inner<W> {
    /// Adds a request. Returns whether another writer must start.
    fn enqueue(&self, request: Request<W>) -> Result<bool, GroupError> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.waiting.len() >= MAX_WAITING {
            return Err(GroupError::Full);
        }
        queue.waiting.push(request);
        let is_slow = queue.taken_at.elapsed() > SLOW;
        let starts = queue.writers == 0 || (is_slow && queue.writers < WRITERS);
        queue.writers += usize::from(starts);
        Ok(starts)
    }

    /// Returns what waits, or ends the writer if nothing does.
    fn next(&self) -> Option<Vec<Request<W>>> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let size = queue.waiting.len().min(MAX_SIZE);
        if size == 0 {
            queue.writers -= 1;
            return None;
        }
        queue.taken_at = Instant::now();
        Some(queue.waiting.drain(..size).collect())
    }

    async fn write_all(&self) {
        while let Some(requests) = self.next() {
            // The replies of a panic are dropped, and the writer goes on.
            let written = AssertUnwindSafe(self.write_together(requests));
            if written.catch_unwind().await.is_err() {
                tracing::error!("postgres: writing a group panicked, its requests fail");
            }
        }
    }

    async fn write_together(&self, requests: Vec<Request<W>>) {
        let waiting = requests.into_iter().filter(|it| !it.reply.is_closed());
        let (items, replies): (Vec<_>, Vec<_>) = waiting.map(|it| (it.item, it.reply)).unzip();
        match self.attempt(&items).await {
            Ok(outputs) => {
                // Before the replies: a caller may be the last that holds its item.
                drop(items);
                for (reply, output) in replies.into_iter().zip(outputs) {
                    send(reply, Ok(output));
                }
            }
            Err(Fault::RolledBack(error)) if items.len() > 1 => {
                tracing::debug!(
                    %error, size = items.len(),
                    "postgres: writing a group failed, its items are written one by one"
                );
                let one_by_one = items.iter().zip(replies);
                join_all(one_by_one.map(|(item, reply)| self.write_one(item, reply))).await;
            }
            Err(Fault::RolledBack(error) | Fault::Unavailable(error)) => {
                let error = Arc::new(error);
                for reply in replies {
                    send(reply, Err(GroupError::Database(error.clone())));
                }
            }
        }
    }

    async fn write_one(&self, item: &W::Item, reply: Reply<W>) {
        let result = match self.attempt(std::slice::from_ref(item)).await {
            Ok(outputs) => outputs.into_iter().next().ok_or(GroupError::Lost),
            Err(Fault::RolledBack(error) | Fault::Unavailable(error)) => {
                Err(GroupError::Database(Arc::new(error)))
            }
        };
        send(reply, result);
    }

    async fn attempt(&self, items: &[W::Item]) -> Result<Vec<W::Output>, Fault> {
        if items.is_empty() {
            return Ok(Vec::new());
        }
        let mut tx = tx(&self.pool).await.map_err(Fault::Unavailable)?;
        let outputs = within(LIMIT, self.write.write_in_tx(&mut tx, items));
        let outputs = outputs.await.map_err(Fault::RolledBack)?;
        let committed = within(LIMIT, tx.commit()).await;
        committed.map_err(Fault::Unavailable)?;
        Ok(outputs)
    }
}

fn send<T>(reply: oneshot::Sender<T>, result: T) {
    // The caller may be gone; what is written stays.
    let _ = reply.send(result);
}

impl From<GroupError> for Failure {
    fn from(error: GroupError) -> Self {
        match &error {
            GroupError::Database(cause) => Self::of_database(cause).with_source(error),
            GroupError::Full => Self::new(Code::Unavailable, error.to_string()),
            GroupError::Lost => Self::internal(error),
        }
    }
}
