//! The requirements on the Postgres server, and whether it responds.

use std::time::Duration;

use sqlx::PgPool;
use tokio::time::{sleep, timeout};

use super::{bounded, errors::end_sessions, is_transient};
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
    /// A standby, or a server that is being promoted or restored.
    #[error("the database is in recovery and accepts no writes")]
    Recovery,
    /// The checks themselves failed, and not because the server is unavailable.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

impl UnsupportedServer {
    /// Whether the server may meet the requirements later.
    fn is_temporary(&self) -> bool {
        match self {
            Self::Recovery => true,
            Self::Database(error) => is_transient(error),
            Self::Locale | Self::SynchronousCommit(_) => false,
        }
    }
}

/// Waits until the server responds and accepts writes, without a time limit. Fails if it does not meet the requirements.
pub async fn wait_until_ready(pool: &PgPool) -> Result<(), UnsupportedServer> {
    let mut retry = Backoff::new(Duration::from_millis(50), Duration::from_secs(1));
    loop {
        match verify(pool).await {
            Err(error) if error.is_temporary() => {
                tracing::info!(%error, "postgres: not available, waiting");
                sleep(retry.next_delay()).await;
            }
            result => return result,
        }
    }
}

async fn verify(pool: &PgPool) -> Result<(), UnsupportedServer> {
    let query = sqlx::query_as(
        "select pg_is_in_recovery() as in_recovery, lower('É') = 'é' as folds_case,
             current_setting('synchronous_commit') as synchronous_commit,
             current_setting('fsync') as fsync,
             current_setting('synchronous_standby_names') = ''
                 and exists (select from pg_stat_replication) as has_asynchronous_standby",
    );
    let server: Server = bounded(query.fetch_one(pool)).await?;
    if server.in_recovery {
        end_sessions();
        return Err(UnsupportedServer::Recovery);
    }
    if !server.folds_case {
        return Err(UnsupportedServer::Locale);
    }
    // remote_apply is stronger than on; off, local and remote_write are weaker.
    if server.synchronous_commit != "on" && server.synchronous_commit != "remote_apply" {
        let setting = server.synchronous_commit;
        return Err(UnsupportedServer::SynchronousCommit(setting));
    }
    if server.fsync != "on" {
        let fsync = server.fsync;
        tracing::warn!("postgres: fsync is {fsync}, acknowledged writes may be lost in a crash");
    }
    if server.has_asynchronous_standby {
        tracing::warn!(
            "postgres: synchronous_standby_names is empty, a failover to the standby may lose \
             acknowledged writes"
        );
    }
    Ok(())
}

/// Properties of the server.
#[derive(sqlx::FromRow)]
struct Server {
    in_recovery: bool,
    folds_case: bool,
    synchronous_commit: String,
    fsync: String,
    has_asynchronous_standby: bool,
}

/// Whether the server responds and accepts writes now, for readiness checks. The sessions of one that
/// accepts none, as after a switchover, are closed: what they read is old.
pub async fn is_reachable(pool: &PgPool) -> bool {
    let query = sqlx::query_scalar::<_, bool>("select not pg_is_in_recovery()");
    let response = query.fetch_one(pool);
    match timeout(READINESS_TIMEOUT, response).await {
        Ok(Ok(accepts_writes)) => {
            if !accepts_writes {
                end_sessions();
            }
            accepts_writes
        }
        Ok(Err(_)) | Err(_) => false,
    }
}
