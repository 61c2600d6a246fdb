//! What the server must promise before a service works on it.

use std::time::Duration;

use sqlx::PgPool;
use tokio::time::{sleep, timeout};

use super::is_transient;

/// How long the readiness probe waits for an answer.
const PROBE: Duration = Duration::from_secs(2);

/// Why a service refuses to work on this database.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    /// `ilike` and unique emails fold case through the database.
    #[error("the database's locale does not fold É to é: create it with a UTF-8 locale")]
    Locale,
    /// An acknowledged write has to survive a crash.
    #[error("synchronous_commit is {0}: acknowledged writes would not survive a crash")]
    SynchronousCommit(String),
    /// The checks themselves failed, and not because the server is away.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// Waits until the database answers, for ever if need be, and refuses one that cannot keep our
/// promises. Readiness is false until this returns.
pub async fn wait_until_fit(pool: &PgPool) -> Result<(), Unfit> {
    let mut patience = Duration::from_millis(50);
    loop {
        match verify(pool).await {
            Err(Unfit::Database(error)) if is_transient(&error) => {
                tracing::info!(%error, "waiting for the database");
                sleep(patience).await;
                patience = (patience * 2).min(Duration::from_secs(1));
            }
            verdict => return verdict,
        }
    }
}

async fn verify(pool: &PgPool) -> Result<(), Unfit> {
    let (folds, synchronous_commit, fsync): (bool, String, String) = sqlx::query_as(
        "select lower('É') = 'é', current_setting('synchronous_commit'), current_setting('fsync')",
    )
    .fetch_one(pool)
    .await?;
    if !folds {
        return Err(Unfit::Locale);
    }
    // remote_apply is stronger than on; off, local and remote_write are weaker.
    if synchronous_commit != "on" && synchronous_commit != "remote_apply" {
        return Err(Unfit::SynchronousCommit(synchronous_commit));
    }
    if fsync != "on" {
        tracing::warn!("fsync is {fsync}: this server loses acknowledged writes in a crash");
    }
    Ok(())
}

/// Whether the database answers now, for readiness probes.
pub async fn is_reachable(pool: &PgPool) -> bool {
    let answer = sqlx::query("select 1").execute(pool);
    matches!(timeout(PROBE, answer).await, Ok(Ok(_)))
}
