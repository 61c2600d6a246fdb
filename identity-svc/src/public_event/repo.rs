//! SQL of public events.

use sqlx::{PgConnection, PgExecutor};
use uuid::Uuid;

use super::PublicEvent;
use crate::error::Result;

/// Events that are put in order at once.
const SEQUENCE_BATCH: i64 = 200;

/// Rows that a purge deletes at once, with all deliveries of each.
const PURGE_BATCH: i64 = 500;

/// How long events stay, with their deliveries.
const RETENTION: &str = "7 days";

/// The key of the lock that one process holds while it assigns positions.
const SEQUENCE_LOCK: i64 = 0x7075_626c_6963;

/// An event that has its position now.
#[derive(Debug)]
pub(super) struct Sequenced {
    pub(super) id: Uuid,
    pub(super) event_type: String,
}

/// Inserts the events that are not there yet.
pub(super) async fn insert_in_tx(conn: &mut PgConnection, events: &[PublicEvent]) -> Result<()> {
    let column = |value: fn(&PublicEvent) -> String| events.iter().map(value).collect::<Vec<_>>();
    sqlx::query!(
        "insert into identity.public_events (id, event_type, data, occurred_at)
         select id, event_type, data, occurred_at
         from unnest($1::uuid[], $2::text[], $3::text[], $4::timestamptz[])
             as event (id, event_type, data, occurred_at)
         on conflict do nothing",
        &events.iter().map(|event| event.id).collect::<Vec<_>>(),
        &column(|event| event.event_type.clone()),
        &column(|event| event.data.clone()),
        &events
            .iter()
            .map(|event| event.occurred_at)
            .collect::<Vec<_>>(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Returns whether an event has no position yet. In the order of the index of those events, which is read
/// then whatever the planner knows of the table.
pub(super) async fn has_unsequenced(db: impl PgExecutor<'_>) -> Result<bool, sqlx::Error> {
    let first = sqlx::query_scalar!(
        "select id from identity.public_events
         where position is null order by created_at, id limit 1"
    );
    Ok(first.fetch_optional(db).await?.is_some())
}

/// Assigns positions to the events that have none, one batch in the order of their insertion. No other
/// process does so until the transaction ends.
pub(super) async fn sequence_in_tx(conn: &mut PgConnection) -> Result<Vec<Sequenced>, sqlx::Error> {
    sqlx::query!("select pg_advisory_xact_lock($1)", SEQUENCE_LOCK)
        .fetch_one(&mut *conn)
        .await?;
    sqlx::query_as!(
        Sequenced,
        "with due as materialized (
             select id from identity.public_events
             where position is null order by created_at, id limit $1),
         numbered as materialized (
             select id, nextval('identity.public_events_position_seq') as position from due)
         update identity.public_events e set position = n.position
         from numbered n where e.id = n.id
         returning e.id, e.event_type",
        SEQUENCE_BATCH,
    )
    .fetch_all(conn)
    .await
}

/// Returns the last position; 0 without any.
pub(super) async fn last_position(db: impl PgExecutor<'_>) -> Result<i64, sqlx::Error> {
    let last = sqlx::query_scalar!(
        r#"select coalesce(max(position), 0) as "last!" from identity.public_events"#
    );
    last.fetch_one(db).await
}

/// Finds the position of an event.
pub(super) async fn find_position(
    db: impl PgExecutor<'_>,
    id: Uuid,
) -> Result<Option<i64>, sqlx::Error> {
    let position = sqlx::query_scalar!(
        "select position from identity.public_events where id = $1",
        id
    );
    Ok(position.fetch_optional(db).await?.flatten())
}

/// Lists the events of these types after the first position and up to the second, with their positions.
pub(super) async fn list_between(
    db: impl PgExecutor<'_>,
    (after, up_to): (i64, i64),
    types: &[String],
    limit: i64,
) -> Result<Vec<(i64, PublicEvent)>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"select position as "position!", id, event_type, data, occurred_at
           from identity.public_events
           where position > $1 and position <= $2 and event_type = any($3)
           order by position limit $4"#,
        after,
        up_to,
        types,
        limit,
    )
    .fetch_all(db)
    .await?;
    let events = rows.into_iter().map(|row| {
        let event = PublicEvent {
            id: row.id,
            event_type: row.event_type,
            data: row.data,
            occurred_at: row.occurred_at,
        };
        (row.position, event)
    });
    Ok(events.collect())
}

/// Deletes old events with their deliveries. Returns `false` if some are left.
pub(super) async fn purge(db: impl PgExecutor<'_>) -> Result<bool, sqlx::Error> {
    let deleted = sqlx::query!(
        "delete from identity.public_events where id in (
             select id from identity.public_events
             where created_at < now() - $1::text::interval limit $2)",
        RETENTION,
        PURGE_BATCH,
    )
    .execute(db)
    .await?;
    Ok(deleted.rows_affected() < PURGE_BATCH.unsigned_abs())
}
