//! How often and for how long a batch is retried.

use std::time::Duration;

use platform::backoff::Backoff;
use sqlx::error::DatabaseError;
use tokio::time::{Instant, sleep};

use super::policy::is_contention;

/// How long a batch is retried while errors are transient, once at least: callers wait for 3 seconds.
const TIMEOUT: Duration = Duration::from_secs(2);
/// The pauses between attempts.
const PAUSES: Backoff = Backoff::new(Duration::from_millis(2), Duration::from_millis(250));
/// How often a batch is retried after another replica was first with an operation or key.
const MAX_DUPLICATES: u32 = 2;
/// How often a posting is retried after it waited for a lock as long as the server allows; all others
/// wait meanwhile.
const MAX_CONTENTIONS: u32 = 1;

/// The retries of one batch.
pub(super) struct Retries {
    deadline: Instant,
    pauses: Backoff,
    count: u32,
    duplicates: u32,
    contentions: u32,
}

impl Retries {
    /// Returns the retries of a batch; `is_contended` if it has waited for a lock before, as a part of
    /// another.
    pub(super) fn new(is_contended: bool) -> Self {
        Self {
            deadline: Instant::now() + TIMEOUT,
            pauses: PAUSES,
            count: 0,
            duplicates: 0,
            contentions: u32::from(is_contended),
        }
    }

    /// Waits until the next attempt; gives the error back if there is none.
    pub(super) async fn wait(&mut self, error: sqlx::Error) -> Result<(), sqlx::Error> {
        let database = error.as_database_error();
        if database.is_some_and(DatabaseError::is_unique_violation) {
            self.duplicates += 1;
            return if self.duplicates > MAX_DUPLICATES {
                Err(error)
            } else {
                Ok(())
            };
        }
        self.contentions += u32::from(is_contention(&error));
        let pause = self.pauses.next_delay();
        let is_late = self.count > 0 && Instant::now() + pause >= self.deadline;
        if is_late || self.contentions > MAX_CONTENTIONS {
            return Err(error);
        }
        self.count += 1;
        metrics::counter!("wallet_batch_retries_total").increment(1);
        tracing::debug!(%error, "posting worker: batch failed, retrying");
        sleep(pause).await;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posting::policy::tests::lock_timeout;

    #[tokio::test(start_paused = true)]
    async fn a_posting_waits_for_a_lock_twice() {
        let mut retries = Retries::new(false);
        assert!(retries.wait(lock_timeout()).await.is_ok());
        assert!(retries.wait(lock_timeout()).await.is_err());
        let mut of_part = Retries::new(true);
        assert!(of_part.wait(lock_timeout()).await.is_err());
    }
}
