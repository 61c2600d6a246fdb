//! Commits without a reply, and the record of batches by which they are looked up.

use std::time::Duration;

use platform::ids::Ids;
use sqlx::{PgConnection, PgPool};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{plan::Plan, queue::PostingResult};
use crate::transaction::model::TransactionId;

const PURGE_INTERVAL: Duration = Duration::from_mins(1);
/// The most rows that one statement purges.
const PURGE_BATCH: u64 = 10_000;

/// Identifies an attempt to write a batch, among all replicas and attempts.
#[derive(Debug, Clone, Copy)]
pub(super) struct BatchId(Uuid);

impl BatchId {
    pub(super) fn draw(ids: &Ids) -> Self {
        Self(ids.uuid())
    }

    pub(super) const fn uuid(self) -> Uuid {
        self.0
    }

    /// Returns the version of the balances that the batch changes: the random half of the id.
    pub(super) const fn version(self) -> i64 {
        self.0.as_u64_pair().1.cast_signed()
    }
}

/// A commit whose reply is awaited or lost.
pub(super) struct PendingCommit {
    batch: BatchId,
    /// The transactions that it creates or changes.
    pub transactions: Vec<TransactionId>,
    pub results: Vec<PostingResult>,
}

impl PendingCommit {
    /// Takes the results of the plan, which is written next.
    pub(super) fn of(plan: &mut Plan) -> Self {
        let changes = plan.book.changes.status_changes.iter();
        Self {
            batch: plan.id,
            transactions: changes.map(|change| change.transaction).collect(),
            results: std::mem::take(&mut plan.results),
        }
    }

    /// Returns whether it was committed; if not, it never will be. Waits for a transaction that is
    /// still open. Takes no lock of the batch: the transaction may wait for one.
    pub(super) async fn is_committed(&self, conn: &mut PgConnection) -> Result<bool, sqlx::Error> {
        let is_abandoned = sqlx::query_scalar!(
            "/* posting.abandon */
             insert into wallet.posted_batches (id, abandoned) values ($1, true)
             on conflict (id) do update set abandoned = posted_batches.abandoned
             returning abandoned",
            self.batch.uuid(),
        )
        .fetch_one(conn)
        .await?;
        Ok(!is_abandoned)
    }
}

/// Deletes the records of batches that no lookup asks for any more, until stopped.
pub(crate) async fn purge_until_stopped(pool: PgPool, stop: CancellationToken) {
    let mut pause = PURGE_INTERVAL;
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = sleep(pause) => {}
        }
        pause = match purge(&pool).await {
            Ok(PURGE_BATCH..) => Duration::ZERO,
            Ok(_) => PURGE_INTERVAL,
            Err(error) => {
                tracing::warn!(%error, "posted batches: purge failed, retrying");
                PURGE_INTERVAL
            }
        };
    }
}

/// A lookup follows its commit within seconds.
async fn purge(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let purged = sqlx::query!(
        "/* posting.purge */
         delete from wallet.posted_batches
         where id in (
             select id from wallet.posted_batches
             where posted_at < now() - interval '15 minutes'
             order by posted_at limit 10000
             for update skip locked)"
    )
    .execute(pool)
    .await?;
    Ok(purged.rows_affected())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[sqlx::test(migrator = "crate::MIGRATOR")]
    async fn batches_are_purged_by_age(pool: PgPool) {
        sqlx::query(
            "insert into wallet.posted_batches (id, posted_at)
             select gen_random_uuid(), now() - age * interval '10 minutes'
             from generate_series(0, 3) age",
        )
        .execute(&pool)
        .await
        .unwrap();
        assert_eq!(purge(&pool).await.unwrap(), 2);
        assert_eq!(purge(&pool).await.unwrap(), 0);
    }
}
