//! Resumes the items that are due.

use std::{panic::AssertUnwindSafe, time::Duration};

use futures::{FutureExt as _, StreamExt as _, stream};
use sqlx::PgPool;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;

use super::{LEASE, Outcome, Saga, table::Item};
use crate::{messaging::Lease, pg};

/// The most items that are resumed concurrently.
pub const CONCURRENCY: usize = 64;

const POLL_INTERVAL: Duration = Duration::from_secs(1);
const GAUGES_INTERVAL: Duration = Duration::from_secs(5);

/// Resumes the saga's items until `stop`, one process of a schema at a time; what is begun by then
/// is finished. Also keeps the gauges.
pub async fn run<S: Saga>(
    saga: S,
    pool: PgPool,
    stop: CancellationToken,
) -> Result<(), sqlx::Error> {
    let worker = Worker { saga, pool, stop };
    let (resumed, ()) = tokio::join!(worker.resume(), worker.update_gauges());
    resumed
}

struct Worker<S> {
    saga: S,
    pool: PgPool,
    stop: CancellationToken,
}

impl<S: Saga> Worker<S> {
    async fn resume(&self) -> Result<(), sqlx::Error> {
        let mut lease = Lease::new(self.pool.clone(), S::TABLE.schema, S::NAME);
        let mut polls = interval(POLL_INTERVAL);
        polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while self.stop.run_until_cancelled(polls.tick()).await.is_some() {
            self.drain(&mut lease).await;
        }
        lease.release().await
    }

    /// Resumes items until none is due. More are taken as soon as there is room: a slow item holds
    /// up no other.
    async fn drain(&self, lease: &mut Lease) {
        stream::unfold(lease, |lease| async move {
            let items = self.take_due(lease).await;
            (!items.is_empty()).then_some((items, lease))
        })
        .flat_map(stream::iter)
        .for_each_concurrent(CONCURRENCY, |item| self.attempt(item))
        .await;
    }

    /// Takes a batch; none once the process stops, or without the lease.
    async fn take_due(&self, lease: &mut Lease) -> Vec<Item> {
        if self.stop.is_cancelled() {
            return Vec::new();
        }
        let taken = async {
            if lease.hold().await? {
                pg::bounded(S::TABLE.take_due(&self.pool, CONCURRENCY)).await
            } else {
                Ok(Vec::new())
            }
        };
        taken.await.unwrap_or_else(|error: sqlx::Error| {
            tracing::debug!(saga = S::NAME, %error, "saga worker: taking items failed, retrying");
            Vec::new()
        })
    }

    async fn attempt(&self, item: Item) {
        let recorded = if self.stop.is_cancelled() {
            pg::bounded(S::TABLE.give_back(&self.pool, item)).await
        } else {
            let outcome = self.outcome(item).await;
            self.record(item, &outcome).await
        };
        if let Err(error) = recorded {
            tracing::debug!(
                saga = S::NAME, id = %item.id, %error,
                "saga worker: postponing an item failed, it is retried when its lease ends"
            );
        }
    }

    /// Bounds an attempt in time, and keeps a panic from ending the other attempts.
    async fn outcome(&self, item: Item) -> Outcome {
        let attempt = AssertUnwindSafe(self.saga.resume(item.id)).catch_unwind();
        match timeout(LEASE, attempt).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Outcome::Failed("the attempt panicked".into()),
            Err(elapsed) => Outcome::Unknown(elapsed.into()),
        }
    }

    async fn record(&self, item: Item, outcome: &Outcome) -> Result<(), sqlx::Error> {
        metrics::counter!("saga_attempts_total", "saga" => S::NAME, "outcome" => outcome.label())
            .increment(1);
        let (saga, id, attempts) = (S::NAME, item.id, item.attempts);
        let error = outcome.error();
        match outcome {
            Outcome::Completed => tracing::info!(saga, %id, attempts, "saga completed"),
            Outcome::Compensated(_) => {
                tracing::warn!(saga, %id, attempts, error, "saga refused, its steps are undone");
            }
            Outcome::Undecided { until, .. } => {
                tracing::warn!(
                    saga, %id, attempts, error, %until,
                    "saga refused, an earlier attempt may still take effect, retrying then"
                );
            }
            Outcome::Unknown(_) => {
                tracing::warn!(saga, %id, attempts, error, "saga outcome unknown, retrying");
            }
            Outcome::Failed(_) => {
                tracing::warn!(saga, %id, attempts, error, "saga failed, retrying");
            }
        }
        match outcome.due(attempts) {
            Some(due) => pg::bounded(S::TABLE.postpone(&self.pool, item, due, &error)).await,
            None => Ok(()),
        }
    }

    async fn update_gauges(&self) {
        let mut ticks = interval(GAUGES_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while self.stop.run_until_cancelled(ticks.tick()).await.is_some() {
            match pg::bounded(S::TABLE.backlog(&self.pool)).await {
                Ok((items, oldest)) => {
                    metrics::gauge!("saga_items", "saga" => S::NAME).set(items);
                    metrics::gauge!("saga_oldest_seconds", "saga" => S::NAME).set(oldest);
                }
                Err(error) => {
                    tracing::debug!(saga = S::NAME, %error, "saga worker: counting items failed");
                }
            }
        }
    }
}
