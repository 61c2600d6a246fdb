//! What the messaging tables need beside the traffic: gauges, and rows that have had their time
//! removed in small bites.

use std::time::Duration;

use sqlx::PgPool;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::pg::Schema;

const GAUGES_EVERY: Duration = Duration::from_secs(5);
/// In rounds of gauges: once a minute.
const PURGE_EVERY: u64 = 12;
/// Rows per statement, so that no purge holds locks for long.
const BITE: i64 = 2_000;

/// Published events stay replayable for 7 days; the inbox outlives every replay by far.
const PURGES: [&str; 3] = [
    "delete from :schema.outbox where position in (
         select position from :schema.outbox o
         where created_at < now() - interval '7 days'
             and not exists (select from :schema.outbox_pending p where p.position = o.position)
         limit $1)",
    "delete from :schema.inbox where (consumer, event_id) in (
         select consumer, event_id from :schema.inbox
         where applied_at < now() - interval '30 days' limit $1)",
    "delete from :schema.idempotency_keys where scope in (
         select scope from :schema.idempotency_keys
         where created_at < now() - interval '24 hours' and answer is not null limit $1)",
];

pub(super) async fn run(pool: &PgPool, schema: Schema, token: &CancellationToken) {
    let mut ticks = interval(GAUGES_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut round = 0_u64;
    loop {
        tokio::select! {
            () = token.cancelled() => return,
            _ = ticks.tick() => {}
        }
        round += 1;
        let swept = async {
            show_gauges(pool, schema).await?;
            if round.is_multiple_of(PURGE_EVERY) {
                purge(pool, schema).await?;
            }
            Ok::<(), sqlx::Error>(())
        };
        if let Err(error) = swept.await {
            tracing::debug!(%error, "housekeeping waits for the database");
        }
    }
}

async fn show_gauges(pool: &PgPool, schema: Schema) -> Result<(), sqlx::Error> {
    let sql = schema.sql(
        "select count(*)::float8,
                coalesce(extract(epoch from now() - (
                    select created_at from :schema.outbox
                    where position = min(pending.position))), 0)::float8,
                (select count(*) from :schema.dead_letters where parked_at is not null)::float8
         from :schema.outbox_pending pending",
    );
    let (unpublished, oldest, parked): (f64, f64, f64) =
        sqlx::query_as(sql).fetch_one(pool).await?;
    metrics::gauge!("outbox_unpublished").set(unpublished);
    metrics::gauge!("outbox_oldest_unpublished_seconds").set(oldest);
    metrics::gauge!("dead_letters").set(parked);
    Ok(())
}

async fn purge(pool: &PgPool, schema: Schema) -> Result<(), sqlx::Error> {
    for statement in PURGES {
        let purged = sqlx::query(schema.sql(statement))
            .bind(BITE)
            .execute(pool)
            .await?;
        if purged.rows_affected() > 0 {
            tracing::debug!(rows = purged.rows_affected(), "purged");
        }
    }
    Ok(())
}
