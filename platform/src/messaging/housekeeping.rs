//! Housekeeping of the messaging tables: gauges, and deletion of expired rows in small batches.

use std::time::Duration;

use sqlx::PgPool;
use tokio::time::{Interval, MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;

use super::Lease;
use crate::pg::{self, Schema};

const GAUGE_INTERVAL: Duration = Duration::from_secs(5);
const PURGE_INTERVAL: Duration = Duration::from_mins(1);
/// Rows per statement, so that no purge holds locks for long.
const PURGE_BATCH: i64 = 2_000;
/// The rest after a full statement; 40 000 rows a second are deleted at most.
const PURGE_PAUSE: Duration = Duration::from_millis(50);

/// Published events stay replayable for 7 days; inbox rows must outlive them.
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

/// Keeps the gauges, and deletes expired rows on one replica at a time, until the token is cancelled.
pub(super) async fn run(pool: &PgPool, schema: Schema, token: &CancellationToken) {
    tokio::join!(
        update_gauges_until(pool, schema, token),
        purge_until(pool, schema, token)
    );
}

async fn update_gauges_until(pool: &PgPool, schema: Schema, token: &CancellationToken) {
    let mut ticks = ticks(GAUGE_INTERVAL);
    while token.run_until_cancelled(ticks.tick()).await.is_some() {
        if let Err(error) = update_gauges(pool, schema).await {
            tracing::debug!(%error, "messaging housekeeping: gauges not updated, retrying");
        }
    }
}

async fn purge_until(pool: &PgPool, schema: Schema, token: &CancellationToken) {
    let mut lease = Lease::new(pool.clone(), schema, "housekeeping");
    let mut ticks = ticks(PURGE_INTERVAL);
    while token.run_until_cancelled(ticks.tick()).await.is_some() {
        let purged = token.run_until_cancelled(purge(pool, schema, &mut lease));
        if let Some(Err(error)) = purged.await {
            tracing::warn!(%error, "messaging housekeeping: purge failed, retrying in a minute");
        }
    }
    if let Err(error) = lease.release().await {
        tracing::debug!(%error, "messaging housekeeping: lease not released, it expires");
    }
}

fn ticks(period: Duration) -> Interval {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

#[derive(sqlx::FromRow)]
struct Gauges {
    unpublished: f64,
    oldest_seconds: f64,
    retained_seconds: f64,
    dead_letters: f64,
}

async fn update_gauges(pool: &PgPool, schema: Schema) -> Result<(), sqlx::Error> {
    let sql = schema.sql(
        "select coalesce(sum(last_position - first_position + 1), 0)::float8 as unpublished,
                coalesce(extract(epoch from now() - (
                    select created_at from :schema.outbox
                    where position = min(first_position))), 0)::float8 as oldest_seconds,
                coalesce(extract(epoch from now() - (
                    select created_at from :schema.outbox order by position limit 1
                )), 0)::float8 as retained_seconds,
                (select count(*) from :schema.dead_letters
                 where parked_at is not null)::float8 as dead_letters
         from :schema.outbox_pending",
    );
    let gauges: Gauges = pg::bounded(sqlx::query_as(sql).fetch_one(pool)).await?;
    metrics::gauge!("outbox_unpublished").set(gauges.unpublished);
    metrics::gauge!("outbox_oldest_unpublished_seconds").set(gauges.oldest_seconds);
    metrics::gauge!("outbox_oldest_seconds").set(gauges.retained_seconds);
    metrics::gauge!("dead_letters").set(gauges.dead_letters);
    Ok(())
}

/// Deletes all expired rows, in short statements with rests between.
async fn purge(pool: &PgPool, schema: Schema, lease: &mut Lease) -> Result<(), sqlx::Error> {
    for statement in PURGES {
        while lease.hold().await? {
            let delete = sqlx::query(schema.sql(statement)).bind(PURGE_BATCH);
            let rows = pg::bounded(delete.execute(pool)).await?.rows_affected();
            metrics::counter!("messaging_rows_purged_total").increment(rows);
            if rows < PURGE_BATCH.unsigned_abs() {
                break;
            }
            sleep(PURGE_PAUSE).await;
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
    async fn published_events_expire_after_a_week_and_pending_events_stay(pool: PgPool) {
        fill(&pool).await;
        let mut lease = Lease::new(pool.clone(), SCHEMA, "housekeeping");
        purge(&pool, SCHEMA, &mut lease).await.unwrap();
        let left = "select array_agg(position order by position) from things.outbox";
        let left: Vec<i64> = sqlx::query_scalar(left).fetch_one(&pool).await.unwrap();
        assert_eq!(left, [2, 3, 5]);
    }

    #[sqlx::test(migrations = false)]
    async fn a_purge_deletes_all_expired_rows_on_one_replica(pool: PgPool) {
        fill(&pool).await;
        sqlx::raw_sql(
            "insert into things.idempotency_keys (scope, request_hash, response, created_at)
             select int8send(n), '', '', now() - interval '25 hours'
             from generate_series(1, 10000) n",
        )
        .execute(&pool)
        .await
        .unwrap();
        let left = async || -> i64 {
            let left = sqlx::query_scalar("select count(*) from things.idempotency_keys");
            left.fetch_one(&pool).await.unwrap()
        };
        let mut other = Lease::new(pool.clone(), SCHEMA, "housekeeping");
        assert!(other.hold().await.unwrap());
        let mut lease = Lease::new(pool.clone(), SCHEMA, "housekeeping");
        purge(&pool, SCHEMA, &mut lease).await.unwrap();
        assert_eq!(left().await, 10_000);
        purge(&pool, SCHEMA, &mut other).await.unwrap();
        assert_eq!(left().await, 0);
    }

    #[sqlx::test(migrations = false)]
    async fn gauges_count_pending_events_and_the_age_of_the_oldest(pool: PgPool) {
        fill(&pool).await;
        let recorder = PrometheusBuilder::new().build_recorder();
        let metrics = recorder.handle();
        // The runtime of a sqlx test has this one thread.
        let _guard = metrics::set_default_local_recorder(&recorder);
        update_gauges(&pool, SCHEMA).await.unwrap();
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
        assert!(gauge("outbox_oldest_seconds") > week);

        sqlx::raw_sql("delete from things.outbox_pending")
            .execute(&pool)
            .await
            .unwrap();
        update_gauges(&pool, SCHEMA).await.unwrap();
        assert!(gauge("outbox_unpublished").abs() < 1e-9);
        assert!(gauge("outbox_oldest_unpublished_seconds").abs() < 1e-9);
    }
}
