//! The pool: limits of its sessions, and the checks of a connection before and after its use.

use std::{str::FromStr as _, time::Duration};

use sqlx::{
    Connection as _, PgConnection, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};

use super::{errors, within};

/// How long a check of a connection waits for a response. The connection is closed then.
const CHECK_TIMEOUT: Duration = Duration::from_secs(1);

/// How soon the server notices that a client is gone, so that the locks of its transaction are
/// released: the client's own sockets cannot be configured.
const KEEPALIVE: [(&str, &str); 4] = [
    ("tcp_keepalives_idle", "5s"),
    ("tcp_keepalives_interval", "2s"),
    ("tcp_keepalives_count", "3"),
    ("tcp_user_timeout", "10s"),
];

/// How statements are planned: once a session, to find each row by its key.
///
/// By default, Postgres plans each execution of a statement that takes arrays, which costs as much as to
/// execute it. A plan that is kept has to be good for a table of any size: one made while the table was
/// nearly empty would otherwise read all of it until the table is analyzed. The checks of foreign keys are
/// planned so, too.
const PLANS: [(&str, &str); 5] = [
    ("plan_cache_mode", "force_generic_plan"),
    ("enable_seqscan", "off"),
    ("enable_hashjoin", "off"),
    ("enable_mergejoin", "off"),
    // Compiling a statement takes longer than all its executions.
    ("jit", "off"),
];

/// Plans the statements of a transaction for their values, in any way: those of lists, whose filters differ
/// in how many rows they leave.
pub(super) const PLAN_FOR_VALUES: &str = "set local plan_cache_mode = force_custom_plan; \
     set local enable_seqscan = on; set local enable_hashjoin = on; set local enable_mergejoin = on";

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

    fn timeouts(&self) -> [(&'static str, String); 3] {
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
        .options(PLANS)
        .options(options.timeouts())
        .options(KEEPALIVE);
    Ok(PgPoolOptions::new()
        .max_connections(options.max_connections)
        .acquire_timeout(options.acquire_timeout)
        // A connection that was used a moment ago needs no test: its release was one.
        .test_before_acquire(false)
        .before_acquire(|connection, meta| {
            Box::pin(async move {
                if errors::has_ended_sessions_of_age(meta.age) {
                    return Ok(false);
                }
                if meta.idle_for > Duration::from_secs(1) {
                    within(CHECK_TIMEOUT, connection.ping()).await?;
                }
                Ok(true)
            })
        })
        .after_release(|connection, _| Box::pin(within(CHECK_TIMEOUT, is_idle(connection))))
        .connect_lazy_with(server))
}

/// Returns whether the session is outside a transaction.
///
/// Only `begin_with` tells what the server says of that, and tells it of any statement. This one does
/// nothing, costs about as much as a ping, and fails in a transaction that is aborted.
async fn is_idle(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    let idle = match connection.begin_with("unlisten *").await {
        Err(sqlx::Error::BeginFailed) => true,
        Ok(_) | Err(sqlx::Error::Database(_)) => false,
        Err(error) => return Err(error),
    };
    if !idle {
        metrics::counter!("db_connections_discarded_total").increment(1);
        tracing::warn!("postgres: connection was left inside a transaction, discarded");
    }
    Ok(idle)
}
