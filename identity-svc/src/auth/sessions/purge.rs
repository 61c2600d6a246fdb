//! Deletes expired refresh tokens.

use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::{Sessions, repo};

const INTERVAL: Duration = Duration::from_mins(10);
/// Rows per statement, so that none holds locks for long.
const BATCH: i64 = 1_000;

impl Sessions {
    /// Purges until `stop`. Replicas may do it at the same time.
    pub(crate) async fn purge(self, stop: CancellationToken) -> anyhow::Result<()> {
        let mut ticks = interval(INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while stop.run_until_cancelled(ticks.tick()).await.is_some() {
            if let Some(Err(error)) = stop.run_until_cancelled(self.purge_once()).await {
                tracing::debug!(%error, "refresh tokens: purge failed, retrying in the next round");
            }
        }
        Ok(())
    }

    async fn purge_once(&self) -> crate::error::Result<()> {
        while repo::purge(&self.pool, BATCH).await? == BATCH.unsigned_abs() {}
        Ok(())
    }
}
