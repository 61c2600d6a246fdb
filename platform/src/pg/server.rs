//! The requirements on the Postgres server, and whether it responds.

use std::time::Duration;

use sqlx::PgPool;
use tokio::time::{sleep, timeout};

use super::is_transient;
use crate::backoff::Backoff;

/// How long the readiness check waits for a response.
const READINESS_TIMEOUT: Duration = Duration::from_secs(2);

/// Why a service refuses to run on this server.
#[derive(Debug, thiserror::Error)]
pub enum UnsupportedServer {
    /// `ilike` and unique emails fold case through the database.
    #[error("the database's locale does not fold É to é: create it with a UTF-8 locale")]
    Locale,
    /// An acknowledged write has to survive a crash.
    #[error("synchronous_commit is {0}: acknowledged writes would not survive a crash")]
    SynchronousCommit(String),
    /// The checks themselves failed, and not because the server is unavailable.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// Waits until the server responds, without a time limit. Fails if it does not meet the requirements.
pub async fn wait_until_ready(pool: &PgPool) -> Result<(), UnsupportedServer> {
    let mut retry = Backoff::new(Duration::from_millis(50), Duration::from_secs(1));
    loop {
        match verify(pool).await {
            Err(UnsupportedServer::Database(error)) if is_transient(&error) => {
                tracing::info!(%error, "postgres: not available, waiting");
                sleep(retry.next_delay()).await;
            }
            result => return result,
        }
    }
}

async fn verify(pool: &PgPool) -> Result<(), UnsupportedServer> {
    let (folds, synchronous_commit, fsync): (bool, String, String) = sqlx::query_as(
        "select lower('É') = 'é', current_setting('synchronous_commit'), current_setting('fsync')",
    )
    .fetch_one(pool)
    .await?;
    if !folds {
        return Err(UnsupportedServer::Locale);
    }
    // remote_apply is stronger than on; off, local and remote_write are weaker.
    if synchronous_commit != "on" && synchronous_commit != "remote_apply" {
        return Err(UnsupportedServer::SynchronousCommit(synchronous_commit));
    }
    if fsync != "on" {
        tracing::warn!("postgres: fsync is {fsync}, acknowledged writes may be lost in a crash");
    }
    Ok(())
}

/// Whether the server responds now, for readiness checks.
pub async fn is_reachable(pool: &PgPool) -> bool {
    let response = sqlx::query("select 1").execute(pool);
    matches!(timeout(READINESS_TIMEOUT, response).await, Ok(Ok(_)))
}
