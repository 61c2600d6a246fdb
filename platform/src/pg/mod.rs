//! Postgres: the pool, the one way to begin a transaction, and what errors of the database mean.
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

/// How long `migrate` waits for a database that is not up yet.
const MIGRATE_TIMEOUT: Duration = Duration::from_mins(1);

/// A schema's name, which becomes part of SQL text: lower-case letters and underscores only.
///
/// ```
/// const SCHEMA: platform::pg::Schema = platform::pg::Schema::new("orders");
/// assert_eq!(SCHEMA.name(), "orders");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schema(&'static str);

impl Schema {
    /// Panics, at compile time when used in a constant, on anything but `[a-z_]+`.
    pub const fn new(name: &'static str) -> Self {
        let bytes = name.as_bytes();
        assert!(
            !bytes.is_empty() && bytes.len() < 64,
            "1 to 63 letters name a schema"
        );
        let mut at = 0;
        while at < bytes.len() {
            assert!(
                bytes[at].is_ascii_lowercase() || bytes[at] == b'_',
                "a schema's name is [a-z_]+"
            );
            at += 1;
        }
        Self(name)
    }

    /// The bare name, which is also the context's name on JetStream.
    pub const fn name(self) -> &'static str {
        self.0
    }

    /// SQL text with `:schema` replaced: the only place where platform SQL is not a constant.
    pub(crate) fn sql(self, text: &str) -> AssertSqlSafe<String> {
        AssertSqlSafe(text.replace(":schema", self.0))
    }
}

/// How a pool behaves. `Options::new` has the values of a service.
#[derive(Debug, Clone)]
pub struct Options {
    /// Shown in `pg_stat_activity`.
    pub application_name: &'static str,
    /// Connections at most.
    pub max_connections: u32,
    /// How long to wait for a connection.
    pub acquire_timeout: Duration,
    /// Server-side bound on a statement.
    pub statement_timeout: Duration,
    /// Server-side bound on waiting for a row.
    pub lock_timeout: Duration,
    /// Server-side bound on a transaction that does nothing.
    pub idle_in_transaction_timeout: Duration,
}

impl Options {
    /// The values of a service: a database that hangs costs a caller less than 3 seconds.
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

/// A lazy pool: it connects on first use, so only a malformed URL is an error here.
pub fn connect(url: &str, options: &Options) -> Result<PgPool, sqlx::Error> {
    let server = PgConnectOptions::from_str(url)?
        .application_name(options.application_name)
        .options(options.settings());
    Ok(PgPoolOptions::new()
        .max_connections(options.max_connections)
        .acquire_timeout(options.acquire_timeout)
        // A connection that was used a moment ago is taken as it is: its release has tested it.
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

/// Whether the session is outside a transaction: there, and only there, a simple query is its own
/// transaction and starts with it. An aborted transaction answers with an error, which also makes
/// the pool discard the connection.
async fn is_idle(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    use sqlx::Row as _;
    let row = sqlx::raw_sql("select now() = statement_timestamp()")
        .fetch_one(connection)
        .await?;
    // Simple queries answer in text.
    let idle = row.try_get_unchecked::<bool, _>(0)?;
    if !idle {
        metrics::counter!("db_connections_discarded_total").increment(1);
        tracing::warn!("discarded a connection that was left inside a transaction");
    }
    Ok(idle)
}

/// Begins a transaction; the only place that does.
///
/// `BEGIN` runs in a task of its own, which ends even if the caller goes away: sqlx 0.9.0 leaves an
/// open transaction on the pooled connection when that is cancelled (launchbadge/sqlx#4393).
/// Dropping the transaction rolls it back.
pub async fn tx(pool: &PgPool) -> Result<Transaction<'static, Postgres>, sqlx::Error> {
    // A caller that leaves here also leaves the queue for a connection.
    let connection = pool.acquire().await?;
    let begun = tokio::spawn(Transaction::begin(connection, None));
    begun
        .await
        .unwrap_or_else(|_stopped| Err(sqlx::Error::WorkerCrashed))
}

/// Brings the schema up to date, as its owner role. Waits up to a minute for the database.
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
