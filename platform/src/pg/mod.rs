//! Postgres: the pool, transactions, and the classification of database errors.
//!
//! A process waits for Postgres at its start and is not ready while it is unavailable. No SQL of a
//! service lives here.

mod errors;
mod group;
mod pool;
mod server;

use std::{io, str::FromStr as _, time::Duration};

use sqlx::{
    AssertSqlSafe, Connection as _, PgConnection, PgPool, Postgres, Transaction,
    migrate::{MigrateError, Migrator},
    postgres::PgConnectOptions,
};
use tokio::time::{Instant, sleep, timeout};

pub(crate) use errors::is_canceled;
pub use errors::{ensure_affected, is_transient, on_constraint, retry_serialization};
pub use group::{Group, GroupError, GroupWrite};
use pool::PLAN_FOR_VALUES;
pub use pool::{Options, connect};
pub use server::{UnsupportedServer, is_reachable, wait_until_ready};

/// How long a background task waits for a statement: longer than the server lets one run.
const STATEMENT_LIMIT: Duration = Duration::from_secs(7);

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

/// Bounds statements in time. The server's limits do not end the wait for a server that is gone without
/// closing the connection.
pub async fn within<T>(
    limit: Duration,
    statements: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, sqlx::Error> {
    let result = timeout(limit, statements).await;
    result.unwrap_or_else(|_elapsed| {
        let timed_out = io::Error::new(io::ErrorKind::TimedOut, "no response from Postgres");
        Err(sqlx::Error::Io(timed_out))
    })
}

/// Bounds a statement of a background task in time; a request has the deadline of its caller.
pub async fn bounded<T>(
    statement: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, sqlx::Error> {
    within(STATEMENT_LIMIT, statement).await
}

/// Begins a transaction. Dropping it rolls it back.
///
/// All transactions begin here. `BEGIN` runs in a task of its own, which completes if the caller is
/// cancelled: otherwise sqlx 0.9.0 leaves an open transaction on the pooled connection
/// (launchbadge/sqlx#4393).
pub async fn tx(pool: &PgPool) -> Result<Transaction<'static, Postgres>, sqlx::Error> {
    // A caller that is cancelled here leaves the queue for a connection.
    let connection = pool.acquire().await?;
    let begun = tokio::spawn(bounded(Transaction::begin(connection, None)));
    begun
        .await
        .unwrap_or_else(|_stopped| Err(sqlx::Error::WorkerCrashed))
}

/// Begins a read-only transaction in which a statement may run for `limit`, planned for its values. Dropping
/// it rolls it back. A caller that is cancelled here leaves the connection in it; the pool discards such a
/// connection.
pub(crate) async fn read_only_within(
    limit: Duration,
    connection: &mut PgConnection,
) -> Result<Transaction<'_, Postgres>, sqlx::Error> {
    let millis = limit.as_millis();
    let set = format!(
        "set local transaction_read_only = on; set local statement_timeout = {millis}; \
         {PLAN_FOR_VALUES}"
    );
    if connection.is_in_transaction() {
        let mut savepoint = connection.begin().await?;
        let set = sqlx::raw_sql(AssertSqlSafe(set));
        set.execute(&mut *savepoint).await?;
        Ok(savepoint)
    } else {
        // One round trip.
        let begin = AssertSqlSafe(format!("begin; {set}"));
        connection.begin_with(begin).await
    }
}

/// Runs the migrations of a schema as its owner role. Waits up to a minute for the database. After a
/// rollback, the schema has migrations of a newer release, too: they stay.
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
    let newest = migrator.iter().last().map(|newest| newest.version);
    match migrator.run(&mut connection).await {
        // Each release has the migrations of those before it, so that the first missing one tells.
        Err(MigrateError::VersionMissing(version)) if Some(version) > newest => {
            tracing::warn!(version, "migrate: a newer release has migrated the schema");
            with_newer(migrator).run(&mut connection).await?;
        }
        done => done?,
    }
    connection.close().await?;
    Ok(())
}

/// Returns the same migrations, for a schema that has others.
fn with_newer(migrator: &Migrator) -> Migrator {
    Migrator {
        migrations: migrator.migrations.clone(),
        ignore_missing: true,
        locking: migrator.locking,
        no_tx: migrator.no_tx,
        table_name: migrator.table_name.clone(),
        create_schemas: migrator.create_schemas.clone(),
    }
}
