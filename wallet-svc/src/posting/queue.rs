//! The way in: a bounded queue, so that back-pressure is felt by callers and never by Postgres.

use std::time::Duration;

use platform::{
    error::{Code, Failure},
    idempotency::{self, Key},
};
use tokio::sync::{mpsc, oneshot};
use tracing::Span;

use crate::{
    ledger::{Command, LedgerError},
    transaction::model::Transaction,
};

/// Postings that may wait: about half a second of work.
const WAITING: usize = 4096;

/// A command with whom it is for.
#[derive(Debug, Clone)]
pub struct Posting {
    /// What is asked.
    pub command: Command,
    /// Who asks, for the history: `user:<id>`.
    pub actor: String,
    /// Makes the request safe to repeat.
    pub key: Option<Key>,
}

/// What became of a posting.
#[derive(Debug)]
pub enum Answer {
    /// It is committed: these transactions were made or changed, now or by its first try.
    Done {
        /// As they are after it.
        transactions: Vec<Transaction>,
        /// Whether anything changed now.
        changed: bool,
    },
    /// The encoded answer that its idempotency key got before.
    Replay(Vec<u8>),
}

/// Why a posting had no effect.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Rejection {
    /// The ledger refuses it.
    #[error(transparent)]
    Refused(#[from] LedgerError),
    /// Its idempotency key stands in the way.
    #[error(transparent)]
    Key(#[from] idempotency::Error),
    /// Too many are waiting, or the database is away.
    #[error("the ledger is unavailable")]
    Unavailable,
    /// A fault of ours, which the poster has logged.
    #[error("the ledger could not write it")]
    Fault,
}

/// A posting on its way, with the caller who waits.
pub(super) struct Request {
    pub posting: Posting,
    pub span: Span,
    pub reply: oneshot::Sender<Result<Answer, Rejection>>,
}

/// Where postings are handed in. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Postings(mpsc::Sender<Request>);

pub(super) fn queue() -> (Postings, mpsc::Receiver<Request>) {
    let (sender, receiver) = mpsc::channel(WAITING);
    (Postings(sender), receiver)
}

impl Postings {
    /// Posts, and waits until it is committed or refused.
    pub async fn post(&self, posting: Posting) -> Result<Answer, Rejection> {
        let (reply, answer) = oneshot::channel();
        let request = Request {
            posting,
            span: Span::current(),
            reply,
        };
        let handed_in = self.0.try_send(request);
        handed_in.map_err(|_full| Rejection::Unavailable)?;
        answer.await.unwrap_or(Err(Rejection::Unavailable))
    }
}

impl From<Rejection> for Failure {
    fn from(rejection: Rejection) -> Self {
        match rejection {
            Rejection::Refused(refusal) => refusal.into(),
            Rejection::Key(error) => error.into(),
            Rejection::Unavailable => {
                let busy = Self::new(Code::Unavailable, rejection.to_string());
                busy.retry_after(Duration::from_secs(1))
            }
            Rejection::Fault => Self::internal(rejection),
        }
    }
}
