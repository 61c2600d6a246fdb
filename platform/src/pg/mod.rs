//! Postgres: the pool, transactions, and the classification of database errors.
//!
//! A process waits for Postgres at its start and is not ready while it is unavailable. No SQL of a
//! service lives here.

mod errors;
mod server;

use std::{str::FromStr as _, time::Duration};

use sqlx::{
    AssertSqlSafe, Connection as _, PgConnection, PgPool, Postgres, Transaction,
    migrate::Migrator,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use tokio::time::{Instant, sleep};

pub use errors::{ensure_affected, is_transient, on_constraint, retry_serialization};
pub use server::{UnsupportedServer, is_reachable, wait_until_ready};

/// How long `migrate` waits for the database to become available.
const MIGRATE_TIMEOUT: Duration = Duration::from_mins(1);

/// The name of a schema, which becomes part of SQL text: lower-case letters and underscores only.
///
/// ```
/// const SCHEMA: platform::pg::Schema = platform::pg::Schema::new("orders");
/// assert_eq!(SCHEMA.name(), "orders");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schema(&'static str);

impl Schema {
    /// Creates a schema name. Panics unless it is `[a-z_]+`; in a constant at compile time.
    pub const fn new(name: &'static str) -> Self {
        let bytes = name.as_bytes();
        assert!(
            !bytes.is_empty() && bytes.len() < 64,
            "1 to 63 letters name a schema"
        );
        let mut index = 0;
        while index < bytes.len() {
            assert!(
                bytes[index].is_ascii_lowercase() || bytes[index] == b'_',
                "a schema's name is [a-z_]+"
            );
            index += 1;
        }
        Self(name)
    }

    /// Returns the name, which is also the context's name on JetStream.
    pub const fn name(self) -> &'static str {
        self.0
    }

    /// Returns SQL text with `:schema` replaced: the only SQL of platform that is not a constant.
    pub(crate) fn sql(self, text: &str) -> AssertSqlSafe<String> {
        AssertSqlSafe(text.replace(":schema", self.0))
    }
}

/// Settings of a pool. `Options::new` has the values of a service.
#[derive(Debug, Clone)]
pub struct Options {
    /// Name in `pg_stat_activity`.
    pub application_name: &'static str,
    /// Maximum number of connections.
    pub max_connections: u32,
    /// Limit of the wait for a connection.
    pub acquire_timeout: Duration,
    /// Server-side limit of a statement.
    pub statement_timeout: Duration,
    /// Server-side limit of the wait for a lock.
    pub lock_timeout: Duration,
    /// Server-side limit of an idle transaction.
    pub idle_in_transaction_timeout: Duration,
}

impl Options {
    /// Returns the values of a service: a call fails within 3 seconds if the database hangs.
    pub const fn new(application_name: &'static str) -> Self {
        Self {
            application_name,
            max_connections: 16,
            acquire_timeout: Duration::from_millis(2_500),
            statement_timeout: Duration::from_secs(5),
            lock_timeout: Duration::from_secs(2),
            idle_in_transaction_timeout: Duration::from_secs(10),
        }
    }

    fn settings(&self) -> [(&'static str, String); 3] {
        let millis = |timeout: Duration| format!("{}ms", timeout.as_millis());
        [
            ("statement_timeout", millis(self.statement_timeout)),
            ("lock_timeout", millis(self.lock_timeout)),
            (
                "idle_in_transaction_session_timeout",
                millis(self.idle_in_transaction_timeout),
            ),
        ]
    }
}

/// Creates a pool that connects on first use. Fails on a malformed URL only.
pub fn connect(url: &str, options: &Options) -> Result<PgPool, sqlx::Error> {
    let server = PgConnectOptions::from_str(url)?
        .application_name(options.application_name)
        .options(options.settings());
    Ok(PgPoolOptions::new()
        .max_connections(options.max_connections)
        .acquire_timeout(options.acquire_timeout)
        // A connection that was used a moment ago needs no test: its release was one.
        .test_before_acquire(false)
        .before_acquire(|connection, meta| {
            Box::pin(async move {
                if meta.idle_for > Duration::from_secs(1) {
                    connection.ping().await?;
                }
                Ok(true)
            })
        })
        .after_release(|connection, _| Box::pin(is_idle(connection)))
        .connect_lazy_with(server))
}

/// Returns whether the session is outside a transaction: only there a simple query is its own
/// transaction, with the same start time. In an aborted transaction the query fails, and the pool
/// discards the connection as well.
async fn is_idle(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    use sqlx::Row as _;
    let row = sqlx::raw_sql("select now() = statement_timestamp()")
        .fetch_one(connection)
        .await?;
    // Simple queries return text.
    let idle = row.try_get_unchecked::<bool, _>(0)?;
    if !idle {
        metrics::counter!("db_connections_discarded_total").increment(1);
        tracing::warn!("postgres: connection was left inside a transaction, discarded");
    }
    Ok(idle)
}

/// Begins a transaction. Dropping it rolls it back.
///
/// All transactions begin here. `BEGIN` runs in a task of its own, which completes if the caller is
/// cancelled: otherwise sqlx 0.9.0 leaves an open transaction on the pooled connection
/// (launchbadge/sqlx#4393).
pub async fn tx(pool: &PgPool) -> Result<Transaction<'static, Postgres>, sqlx::Error> {
    // A caller that is cancelled here leaves the queue for a connection.
    let connection = pool.acquire().await?;
    let begun = tokio::spawn(Transaction::begin(connection, None));
    begun
        .await
        .unwrap_or_else(|_stopped| Err(sqlx::Error::WorkerCrashed))
}

/// Runs the migrations of a schema as its owner role. Waits up to a minute for the database.
pub async fn migrate(owner_url: &str, migrator: &Migrator) -> anyhow::Result<()> {
    let options = PgConnectOptions::from_str(owner_url)?.application_name("migrate");
    let deadline = Instant::now() + MIGRATE_TIMEOUT;
    let mut connection = loop {
        match PgConnection::connect_with(&options).await {
            Err(error) if is_transient(&error) && Instant::now() < deadline => {
                tracing::info!(%error, "postgres: not available, waiting");
                sleep(Duration::from_millis(500)).await;
            }
            connected => break connected?,
        }
    };
    migrator.run(&mut connection).await?;
    connection.close().await?;
    Ok(())
}
