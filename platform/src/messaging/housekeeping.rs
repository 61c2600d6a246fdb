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
             and position > coalesce((
                 select last_position from :schema.outbox_pending
                 where first_position <= o.position order by first_position desc limit 1), 0)
         limit $1)",
    "delete from :schema.inbox where (consumer, event_id) in (
         select consumer, event_id from :schema.inbox
         where applied_at < now() - interval '30 days' limit $1)",
    "delete from :schema.idempotency_keys where scope in (
         select scope from :schema.idempotency_keys
         where created_at < now() - interval '24 hours' and response is not null limit $1)",
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
        "select coalesce(sum(last_position - first_position + 1), 0)::float8,
                coalesce(extract(epoch from now() - (
                    select created_at from :schema.outbox
                    where position = min(first_position))), 0)::float8,
                (select count(*) from :schema.dead_letters where parked_at is not null)::float8
         from :schema.outbox_pending",
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

#[cfg(test)]
mod tests {
    use metrics_exporter_prometheus::PrometheusBuilder;
    use sqlx::AssertSqlSafe;

    use super::*;

    const SCHEMA: Schema = Schema::new("things");

    /// Five events: two that have been pending for eight days between two that were published then,
    /// and one that is published now.
    async fn fill(pool: &PgPool) {
        let tables = crate::testing::messaging_tables(SCHEMA);
        let sql = format!(
            "create schema things; {tables}
             insert into things.outbox
                 (id, event_type, aggregate_kind, aggregate_id, aggregate_version, body, created_at)
             select gen_random_uuid(), 'guerdon.things.v1.ThingDone', 'thing', gen_random_uuid(), 1,
                 '', now() - days * interval '1 day'
             from unnest(array[8, 8, 8, 8, 0]) with ordinality as events (days, n) order by n;
             insert into things.outbox_pending values (2, 3)"
        );
        sqlx::raw_sql(AssertSqlSafe(sql))
            .execute(pool)
            .await
            .unwrap();
    }

    #[sqlx::test(migrations = false)]
    async fn published_events_go_after_a_week_and_pending_ones_stay(pool: PgPool) {
        fill(&pool).await;
        purge(&pool, SCHEMA).await.unwrap();
        let left = "select array_agg(position order by position) from things.outbox";
        let left: Vec<i64> = sqlx::query_scalar(left).fetch_one(&pool).await.unwrap();
        assert_eq!(left, [2, 3, 5]);
    }

    #[sqlx::test(migrations = false)]
    async fn the_gauges_tell_of_pending_events(pool: PgPool) {
        fill(&pool).await;
        let recorder = PrometheusBuilder::new().build_recorder();
        let metrics = recorder.handle();
        // The runtime of a sqlx test has this one thread.
        let _guard = metrics::set_default_local_recorder(&recorder);
        show_gauges(&pool, SCHEMA).await.unwrap();
        let gauge = |name: &str| {
            let shown = metrics.render();
            let value = shown
                .lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            value.unwrap().parse::<f64>().unwrap()
        };
        assert!((gauge("outbox_unpublished") - 2.0).abs() < 1e-9);
        let week = 7.0 * 24.0 * 3600.0;
        assert!(gauge("outbox_oldest_unpublished_seconds") > week);

        sqlx::raw_sql("delete from things.outbox_pending")
            .execute(&pool)
            .await
            .unwrap();
        show_gauges(&pool, SCHEMA).await.unwrap();
        assert!(gauge("outbox_unpublished").abs() < 1e-9);
        assert!(gauge("outbox_oldest_unpublished_seconds").abs() < 1e-9);
    }
}
