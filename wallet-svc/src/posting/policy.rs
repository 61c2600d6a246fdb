//! On which basis a batch is decided, and what follows an attempt. Pure.

use platform::pg::is_transient;
use sqlx::error::DatabaseError;

use super::{queue::PostingResult, write::is_conflict};

/// Whether a batch that the cache cannot decide is read without locks before it takes them.
const OPTIMISTIC_READ: bool = true;

/// Batches that start on a stronger basis after a conflict: another replica writes the same rows, and
/// most likely will again.
const COOLDOWN_BATCHES: u32 = 64;

/// The source of the rows that a batch is decided on, from the weakest to the strongest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Basis {
    /// Rows as earlier batches left them.
    Cached,
    /// Rows read without locks.
    Read,
    /// Rows read under locks.
    Locked,
}

impl Basis {
    const fn stronger(self) -> Self {
        match self {
            Self::Cached if OPTIMISTIC_READ => Self::Read,
            _ => Self::Locked,
        }
    }

    const fn weaker(self) -> Self {
        match self {
            Self::Locked if OPTIMISTIC_READ => Self::Read,
            _ => Self::Cached,
        }
    }
}

/// The outcome of an attempt to post a batch.
#[derive(Debug)]
pub(super) enum Attempt {
    /// Committed, or rejected without anything to write.
    Done(Vec<PostingResult>),
    /// The batch cannot be decided on this basis.
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

/// What follows an attempt.
#[derive(Debug)]
pub(super) enum Next {
    /// The batch is done.
    Finish(Vec<PostingResult>),
    /// Try on this basis.
    Try(Basis),
    /// Try again under locks, if the limits of [`super::worker`] allow it; else fail with this error.
    Retry(sqlx::Error),
    /// The batch has failed.
    Fail(sqlx::Error),
}

/// Decides what follows an attempt on this basis.
pub(super) fn next(basis: Basis, attempt: Attempt) -> Next {
    match (basis, attempt) {
        (_, Attempt::Done(results)) => Next::Finish(results),
        (_, Attempt::Incomplete) | (Basis::Cached | Basis::Read, Attempt::Conflict(_)) => {
            Next::Try(basis.stronger())
        }
        (Basis::Cached | Basis::Read, Attempt::Duplicate(_) | Attempt::Failed(_)) => {
            Next::Try(Basis::Locked)
        }
        // Another replica was first with an operation or key: the next attempt sees it.
        (Basis::Locked, Attempt::Duplicate(error)) => Next::Retry(error),
        (Basis::Locked, Attempt::Failed(error)) if is_transient(&error) => Next::Retry(error),
        // Nothing can change under locks.
        (Basis::Locked, Attempt::Conflict(error) | Attempt::Failed(error)) => Next::Fail(error),
    }
}

/// The basis that batches start on: after a conflict a stronger one, which gets weaker again by one
/// for every 64 batches.
#[derive(Debug)]
pub(super) struct Cooldown {
    basis: Basis,
    batches: u32,
}

impl Default for Cooldown {
    fn default() -> Self {
        Self {
            basis: Basis::Cached,
            batches: 0,
        }
    }
}

impl Cooldown {
    /// Returns the basis for the next batch, and counts it.
    pub(super) fn start(&mut self) -> Basis {
        if self.batches == 0 {
            return self.basis;
        }
        let basis = self.basis;
        self.batches -= 1;
        if self.batches == 0 {
            self.basis = basis.weaker();
            self.batches = match self.basis {
                Basis::Cached => 0,
                Basis::Read | Basis::Locked => COOLDOWN_BATCHES,
            };
        }
        basis
    }

    /// Starts the following batches on a stronger basis than that of the conflict.
    pub(super) const fn conflict(&mut self, basis: Basis) {
        self.basis = basis.stronger();
        self.batches = COOLDOWN_BATCHES;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Basis; 3] = [Basis::Cached, Basis::Read, Basis::Locked];

    const TRANSIENT: sqlx::Error = sqlx::Error::PoolTimedOut;
    const FATAL: sqlx::Error = sqlx::Error::RowNotFound;

    fn name(next: &Next) -> &'static str {
        match next {
            Next::Finish(_) => "finish",
            Next::Try(Basis::Cached) => "cached",
            Next::Try(Basis::Read) => "read",
            Next::Try(Basis::Locked) => "locked",
            Next::Retry(_) => "retry",
            Next::Fail(_) => "fail",
        }
    }

    /// What follows on each basis.
    fn table(attempt: impl Fn() -> Attempt) -> [&'static str; 3] {
        ALL.map(|basis| name(&next(basis, attempt())))
    }

    #[test]
    fn each_attempt_is_followed_by_a_stronger_basis_or_an_end() {
        let read = if OPTIMISTIC_READ { "read" } else { "locked" };
        assert_eq!(table(|| Attempt::Done(Vec::new())), ["finish"; 3]);
        assert_eq!(table(|| Attempt::Incomplete), [read, "locked", "locked"]);
        let conflict = table(|| Attempt::Conflict(FATAL));
        assert_eq!(conflict, [read, "locked", "fail"]);
        let duplicate = table(|| Attempt::Duplicate(FATAL));
        assert_eq!(duplicate, ["locked", "locked", "retry"]);
        let failed = table(|| Attempt::Failed(TRANSIENT));
        assert_eq!(failed, ["locked", "locked", "retry"]);
        let failed = table(|| Attempt::Failed(FATAL));
        assert_eq!(failed, ["locked", "locked", "fail"]);
    }

    #[test]
    fn a_cooldown_steps_down_basis_by_basis() {
        let mut cooldown = Cooldown::default();
        assert_eq!(cooldown.start(), Basis::Cached);
        cooldown.conflict(Basis::Read);
        let next = |cooldown: &mut Cooldown| {
            let batches: Vec<_> = (0..COOLDOWN_BATCHES).map(|_| cooldown.start()).collect();
            assert!(batches.iter().all(|basis| *basis == batches[0]));
            batches[0]
        };
        assert_eq!(next(&mut cooldown), Basis::Locked);
        if OPTIMISTIC_READ {
            assert_eq!(next(&mut cooldown), Basis::Read);
        }
        assert_eq!(next(&mut cooldown), Basis::Cached);
    }

    #[test]
    fn a_conflict_on_the_cache_leads_to_reading_for_a_while() {
        let mut cooldown = Cooldown::default();
        cooldown.conflict(Basis::Cached);
        for _ in 0..COOLDOWN_BATCHES {
            assert_eq!(cooldown.start(), Basis::Cached.stronger());
        }
        let after = Basis::Cached.stronger().weaker();
        assert_eq!(cooldown.start(), after);
    }
}
