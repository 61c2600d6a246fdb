//! Deletes the revocations that no longer matter.

use std::time::Duration;

use platform::pg;
use sqlx::PgPool;
use tokio::time::interval;
use tokio_util::sync::CancellationToken;

use super::repo;

const PURGE_INTERVAL: Duration = Duration::from_mins(1);

/// Deletes expired rows every minute until `stop`. Replicas may do so at once.
pub(super) async fn run(pool: PgPool, stop: CancellationToken) {
    let mut ticks = interval(PURGE_INTERVAL);
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        let purge = pg::bounded(repo::delete_expired(&pool));
        if let Some(Err(error)) = stop.run_until_cancelled(purge).await {
            tracing::debug!(%error, "revocations: expired rows not deleted, retrying in a minute");
        }
    }
}
