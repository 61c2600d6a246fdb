//! What tests of several crates need: waiting without sleeping, and no leftovers.

use std::time::Duration;

use sqlx::PgPool;
use tokio::time::{Instant, interval};

use crate::pg::Schema;

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

/// Fails if the schema holds work that nobody finished: unpublished events, parked or failing ones,
/// idempotency keys in progress. Waits a moment for the relay.
pub async fn assert_no_leftovers(pool: &PgPool, schema: Schema) {
    let sql = schema.sql(
        "select (select count(*) from :schema.outbox where published_at is null)
              + (select count(*) from :schema.dead_letters)
              + (select count(*) from :schema.idempotency_keys where answer is null)",
    );
    let sql = sqlx::SqlSafeStr::into_sql_str(sql);
    let what = format!("no leftovers in {}", schema.name());
    eventually(&what, Duration::from_secs(5), async || {
        let left: Result<i64, _> = sqlx::query_scalar(sql.clone()).fetch_one(pool).await;
        left.is_ok_and(|left| left == 0)
    })
    .await;
}
