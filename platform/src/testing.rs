//! What tests of several crates need: waiting without sleeping, no leftovers, and spans.

use std::{sync::Once, time::Duration};

use sqlx::PgPool;
use tokio::time::{Instant, interval};

use crate::{pg::Schema, telemetry};

/// Waits until the condition holds, looking every few milliseconds.
///
/// # Panics
/// When `deadline` has passed and it still doesn't.
pub async fn eventually(what: &str, deadline: Duration, mut condition: impl AsyncFnMut() -> bool) {
    let end = Instant::now() + deadline;
    let mut looks = interval(Duration::from_millis(10));
    loop {
        looks.tick().await;
        if condition().await {
            return;
        }
        assert!(Instant::now() < end, "not within {deadline:?}: {what}");
    }
}

/// SQL that creates the messaging tables in the schema, with all rights for every role.
pub fn messaging_tables(schema: Schema) -> String {
    include_str!("../sql/messaging.sql")
        .replace("guerdon_:schema_app", "public")
        .replace(":schema", schema.name())
}

/// Fails if the schema holds work that nobody finished: unpublished events, parked or failing ones,
/// idempotency keys in progress. Waits a moment for the relay.
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

/// Traces what every thread of this process does, as a service would; nothing is exported.
///
/// Call it at the start of every test. A subscriber of one thread does not do: tracing
/// caches for all threads whether a span is wanted, and a thread without one would answer no.
///
/// # Panics
/// When the process has a subscriber already.
pub fn trace_process() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        tracing::subscriber::set_global_default(telemetry::quiet_subscriber())
            .expect("no other subscriber");
        // For spans met before, too.
        tracing::callsite::rebuild_interest_cache();
    });
}
