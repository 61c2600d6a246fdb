//! Helpers for tests of several crates: waiting for a condition, leftovers, and traces.

use std::{sync::Once, time::Duration};

use sqlx::{ConnectOptions as _, PgPool, postgres::PgConnectOptions};
use tokio::time::{Instant, interval};

use crate::{pg::Schema, telemetry};

/// Waits until the condition holds; checks it every few milliseconds.
///
/// # Panics
/// If the condition does not hold within `timeout`.
pub async fn eventually(what: &str, timeout: Duration, mut condition: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + timeout;
    let mut ticks = interval(Duration::from_millis(10));
    loop {
        ticks.tick().await;
        if condition().await {
            return;
        }
        assert!(Instant::now() < deadline, "not within {timeout:?}: {what}");
    }
}

/// SQL that creates the messaging tables in the schema, with all rights for every role.
pub fn messaging_tables(schema: Schema) -> String {
    include_str!("../sql/messaging.sql")
        .replace("guerdon_:schema_app", "public")
        .replace(":schema", schema.name())
}

/// Returns the URL of a test's database with the rights of the schema's app role, whose password no test
/// knows: the superuser logs in and takes the role.
pub fn app_role_url(superuser: &PgConnectOptions, schema: Schema) -> String {
    let mut url = superuser.to_url_lossy();
    let options = format!("-c role=guerdon_{}_app", schema.name());
    url.query_pairs_mut().append_pair("options", &options);
    url.to_string()
}

/// Checks that the schema has no unfinished work: unpublished events, dead letters, idempotency keys
/// in progress. Waits up to a minute for the relay.
pub async fn assert_no_leftovers(pool: &PgPool, schema: Schema) {
    let sql = schema.sql(
        "select (select count(*) from :schema.outbox_pending)
              + (select count(*) from :schema.dead_letters)
              + (select count(*) from :schema.idempotency_keys where response is null)",
    );
    let sql = sqlx::SqlSafeStr::into_sql_str(sql);
    let what = format!("no leftovers in {}", schema.name());
    eventually(&what, Duration::from_mins(1), async || {
        let left: Result<i64, _> = sqlx::query_scalar(sql.clone()).fetch_one(pool).await;
        left.is_ok_and(|left| left == 0)
    })
    .await;
}

/// Installs a subscriber that traces all threads of the process, as in a service; nothing is exported.
///
/// Call it at the start of every test. A thread-local subscriber is not enough: tracing caches for
/// all threads whether a span is enabled.
///
/// # Panics
/// If the process has another subscriber.
pub fn trace_process() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        tracing::subscriber::set_global_default(telemetry::quiet_subscriber())
            .expect("no other subscriber");
        // Spans that were cached as disabled before.
        tracing::callsite::rebuild_interest_cache();
    });
}
