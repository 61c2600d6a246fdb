//! On which basis a batch is decided, and what follows an attempt. Pure.

use platform::pg::is_transient;
use sqlx::error::DatabaseError;

use super::{queue::PostingResult, write::is_conflict};

/// Batches that take locks after a conflict: another replica writes the same rows, and most likely will
/// again.
const COOLDOWN_BATCHES: u32 = 64;

/// The source of the rows that a batch is decided on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Basis {
    /// Rows as earlier batches left them.
    Cached,
    /// Rows read under locks.
    Locked,
}

/// The outcome of an attempt to post a batch.
#[derive(Debug)]
pub(super) enum Attempt {
    /// Committed, or rejected without anything to write.
    Done(Vec<PostingResult>),
    /// The batch cannot be decided on cached rows.
    Incomplete,
    /// A row changed between read and write.
    Conflict(sqlx::Error),
    /// An operation, key or transaction id exists already.
    Duplicate(sqlx::Error),
    /// Any other error; at a commit it leaves open whether the batch was committed.
    Failed(sqlx::Error),
}

impl From<sqlx::Error> for Attempt {
    fn from(error: sqlx::Error) -> Self {
        let database = error.as_database_error();
        if is_conflict(&error) {
            Self::Conflict(error)
        } else if database.is_some_and(DatabaseError::is_unique_violation) {
            Self::Duplicate(error)
        } else {
            Self::Failed(error)
        }
    }
}

/// Whether a lock or a statement took as long as the server allows.
pub(super) fn is_contention(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(DatabaseError::code);
    code.is_some_and(|code| code == "55P03" || code == "57014")
}

/// Whether the error may be due to some postings of the batch only.
pub(super) fn fails_alone(error: &sqlx::Error) -> bool {
    is_contention(error) || !is_transient(error)
}

/// Whether the database is unavailable, for this batch and for the next.
pub(super) fn is_away(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(DatabaseError::code);
    // Deadlocks and serialization failures are of class 40.
    is_transient(error) && !is_contention(error) && !code.is_some_and(|code| code.starts_with("40"))
}

/// What follows an attempt.
#[derive(Debug)]
pub(super) enum Next {
    /// The batch is done.
    Finish(Vec<PostingResult>),
    /// Try on this basis.
    Try(Basis),
    /// Try again, if the limits of [`super::worker`] allow it; else fail with this error.
    Retry(sqlx::Error),
    /// The batch has failed.
    Fail(sqlx::Error),
}

/// Decides what follows an attempt on this basis.
pub(super) fn next(basis: Basis, attempt: Attempt) -> Next {
    match (basis, attempt) {
        (_, Attempt::Done(results)) => Next::Finish(results),
        // Under locks all would wait for the same row once more.
        (_, Attempt::Failed(error)) if is_contention(&error) => Next::Retry(error),
        (Basis::Cached, _) | (Basis::Locked, Attempt::Incomplete) => Next::Try(Basis::Locked),
        // Another replica was first with an operation or key: the next attempt sees it.
        (Basis::Locked, Attempt::Duplicate(error)) => Next::Retry(error),
        (Basis::Locked, Attempt::Failed(error)) if is_transient(&error) => Next::Retry(error),
        // Nothing can change under locks.
        (Basis::Locked, Attempt::Conflict(error) | Attempt::Failed(error)) => Next::Fail(error),
    }
}

/// The number of batches that still take locks after a conflict.
#[derive(Debug, Default)]
pub(super) struct Cooldown {
    batches: u32,
}

impl Cooldown {
    /// Returns the basis for the next batch, and counts it.
    pub(super) const fn start(&mut self) -> Basis {
        if self.batches == 0 {
            return Basis::Cached;
        }
        self.batches -= 1;
        Basis::Locked
    }

    /// Has the next 64 batches take locks.
    pub(super) const fn conflict(&mut self) {
        self.batches = COOLDOWN_BATCHES;
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::{borrow::Cow, error::Error};

    use sqlx::error::ErrorKind;

    use super::*;

    const ALL: [Basis; 2] = [Basis::Cached, Basis::Locked];

    const TRANSIENT: sqlx::Error = sqlx::Error::PoolTimedOut;

    /// The error of a lock that was waited for too long.
    #[derive(Debug, thiserror::Error)]
    #[error("lock timeout")]
    struct LockTimeout;

    impl DatabaseError for LockTimeout {
        fn message(&self) -> &'static str {
            "lock timeout"
        }

        fn code(&self) -> Option<Cow<'_, str>> {
            Some(Cow::Borrowed("55P03"))
        }

        fn as_error(&self) -> &(dyn Error + Send + Sync + 'static) {
            self
        }

        fn as_error_mut(&mut self) -> &mut (dyn Error + Send + Sync + 'static) {
            self
        }

        fn into_error(self: Box<Self>) -> Box<dyn Error + Send + Sync + 'static> {
            self
        }

        fn kind(&self) -> ErrorKind {
            ErrorKind::Other
        }
    }

    pub(in crate::posting) fn lock_timeout() -> sqlx::Error {
        sqlx::Error::Database(Box::new(LockTimeout))
    }

    const FATAL: sqlx::Error = sqlx::Error::RowNotFound;

    fn name(next: &Next) -> &'static str {
        match next {
            Next::Finish(_) => "finish",
            Next::Try(Basis::Cached) => "cached",
            Next::Try(Basis::Locked) => "locked",
            Next::Retry(_) => "retry",
            Next::Fail(_) => "fail",
        }
    }

    /// What follows on each basis.
    fn table(attempt: impl Fn() -> Attempt) -> [&'static str; 2] {
        ALL.map(|basis| name(&next(basis, attempt())))
    }

    #[test]
    fn each_attempt_is_followed_by_one_under_locks_or_an_end() {
        assert_eq!(table(|| Attempt::Done(Vec::new())), ["finish"; 2]);
        assert_eq!(table(|| Attempt::Incomplete), ["locked"; 2]);
        let conflict = table(|| Attempt::Conflict(FATAL));
        assert_eq!(conflict, ["locked", "fail"]);
        let duplicate = table(|| Attempt::Duplicate(FATAL));
        assert_eq!(duplicate, ["locked", "retry"]);
        let failed = table(|| Attempt::Failed(TRANSIENT));
        assert_eq!(failed, ["locked", "retry"]);
        let contended = table(|| Attempt::Failed(lock_timeout()));
        assert_eq!(contended, ["retry"; 2]);
        let failed = table(|| Attempt::Failed(FATAL));
        assert_eq!(failed, ["locked", "fail"]);
    }

    #[test]
    fn batches_take_locks_for_a_while_after_a_conflict() {
        let mut cooldown = Cooldown::default();
        assert_eq!(cooldown.start(), Basis::Cached);
        cooldown.conflict();
        for _ in 0..COOLDOWN_BATCHES {
            assert_eq!(cooldown.start(), Basis::Locked);
        }
        assert_eq!(cooldown.start(), Basis::Cached);
    }
}
