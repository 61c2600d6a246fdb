//! Sagas: operations in several steps and services, completed or undone even if their process ends.
//!
//! A service keeps each saga in progress as an item of a table of its own:
//!
//! 1. It inserts the item in the transaction that begins the saga, before the first call to another
//!    service, and due in [`LEASE`]: until then the request drives the saga.
//! 2. It deletes the item in the transaction that completes the saga, or that undoes it.
//! 3. If a call leaves its outcome unknown, the request gives the item back with
//!    [`Table::retry_now`] and answers `unavailable`.
//! 4. The worker, [`run`], resumes every item that is due, until it is deleted. A service starts it
//!    with [`Backbone::saga`](crate::service::Backbone::saga).
//!
//! Steps may run twice, also concurrently: each has to be safe to repeat.
//!
//! ```no_run
//! # use platform::{error::{Code, Failure}, pg::Schema, saga::{Outcome, Saga, Table}};
//! # use uuid::Uuid;
//! # struct Provisioning;
//! # impl Provisioning { async fn finish(&self, _: Uuid) -> Result<(), Failure> { Ok(()) } }
//! impl Saga for Provisioning {
//!     const NAME: &'static str = "user-provisioning";
//!     const TABLE: Table = Table {
//!         schema: Schema::new("identity"),
//!         name: "user_provisionings",
//!         key: "user_id",
//!     };
//!
//!     async fn resume(&self, id: Uuid) -> Outcome {
//!         match self.finish(id).await {
//!             Ok(()) => Outcome::Completed,
//!             Err(failure) if failure.code.is_transient() => Outcome::Unknown(failure.into()),
//!             Err(failure) => Outcome::Failed(failure.into()),
//!         }
//!     }
//! }
//! ```
//!
//! The table has a key of type `uuid`, these columns, and an index on `due_at`:
//!
//! ```sql
//! -- When a worker resumes it, by the database's clock; at first the lease of the request
//! due_at timestamptz(3) not null,
//! -- The number of attempts of workers, and the error of the last
//! attempts integer not null default 0,
//! last_error text,
//! created_at timestamptz(3) not null default now(),
//! ```
//!
//! Metrics, each with a label `saga`: the gauges `saga_items` and `saga_oldest_seconds`, and the counter
//! `saga_attempts_total` with a label `outcome`.

mod table;
mod worker;

use std::{future::Future, time::Duration};

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::{backoff::Backoff, error::Source, telemetry};

use table::Due;
pub use table::Table;
pub use worker::{CONCURRENCY, run};

/// How long one process may drive an item before another resumes it; an attempt takes no longer.
pub const LEASE: Duration = Duration::from_secs(10);

/// The delays after failed attempts. The maximum bounds how long an item waits after the return of a
/// service that it needs.
const RETRY: Backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(30));

/// One kind of saga.
pub trait Saga: Send + Sync {
    /// The name of its lease, and its label in metrics and logs: `user-provisioning`.
    const NAME: &'static str;

    /// Where its items are.
    const TABLE: Table;

    /// Drives the item with this key to its end. An item that is gone is completed.
    fn resume(&self, id: Uuid) -> impl Future<Output = Outcome> + Send;
}

/// The result of an attempt to end a saga.
#[derive(Debug)]
pub enum Outcome {
    /// The saga is complete and its item deleted.
    Completed,
    /// A step was refused for good; the steps before it are undone and the item is deleted.
    Compensated(Source),
    /// A step was refused, but an earlier attempt at it may still take effect.
    Undecided {
        /// Why it was refused.
        error: Source,
        /// When the next attempt decides: retried then.
        until: DateTime<Utc>,
    },
    /// Whether a step took effect is not known: retried immediately once, then with backoff.
    Unknown(Source),
    /// A step failed: retried with backoff.
    Failed(Source),
}

impl Outcome {
    /// The label in metrics.
    const fn label(&self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Compensated(_) => "compensated",
            Self::Undecided { .. } => "undecided",
            Self::Unknown(_) => "unknown",
            Self::Failed(_) => "failed",
        }
    }

    /// The error and its causes; empty if there is none.
    fn error(&self) -> String {
        match self {
            Self::Completed => String::new(),
            Self::Compensated(error)
            | Self::Undecided { error, .. }
            | Self::Unknown(error)
            | Self::Failed(error) => telemetry::chain(error.as_ref()),
        }
    }

    /// When the next attempt is due after this many; `None` if the saga has ended.
    fn due(&self, attempts: i32) -> Option<Due> {
        match self {
            Self::Completed | Self::Compensated(_) => None,
            Self::Undecided { until, .. } => Some(Due::At(*until)),
            Self::Unknown(_) if attempts <= 1 => Some(Due::In(Duration::ZERO)),
            Self::Unknown(_) | Self::Failed(_) => {
                Some(Due::In(RETRY.after(attempts.max(1).unsigned_abs())))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delays(outcome: &Outcome) -> Vec<u64> {
        (1..=7)
            .filter_map(|attempts| match outcome.due(attempts)? {
                Due::In(delay) => Some(delay.as_secs()),
                Due::At(_) => None,
            })
            .collect()
    }

    #[test]
    fn delays_double_up_to_a_limit() {
        let failed = Outcome::Failed("no".into());
        assert_eq!(delays(&failed), [1, 2, 4, 8, 16, 30, 30]);
        let after = |attempts| failed.due(attempts);
        assert_eq!(after(i32::MAX), Some(Due::In(Duration::from_secs(30))));
        assert_eq!(after(0), Some(Due::In(Duration::from_secs(1))));
    }

    #[test]
    fn an_unknown_outcome_is_retried_immediately_once() {
        let unknown = Outcome::Unknown("lost".into());
        assert_eq!(delays(&unknown), [0, 2, 4, 8, 16, 30, 30]);
    }

    #[test]
    fn an_undecided_step_is_retried_when_it_is_decided() {
        let until = DateTime::UNIX_EPOCH;
        let undecided = Outcome::Undecided {
            error: "refused".into(),
            until,
        };
        assert_eq!(undecided.due(1), Some(Due::At(until)));
    }

    #[test]
    fn a_saga_that_has_ended_is_not_retried() {
        assert_eq!(delays(&Outcome::Completed), [0; 0]);
        assert_eq!(delays(&Outcome::Compensated("refused".into())), [0; 0]);
    }
}
