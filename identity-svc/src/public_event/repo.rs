//! SQL of public events.

use std::{collections::HashSet, time::Duration};

use platform::messaging::inbox;
use sqlx::{PgConnection, PgExecutor};
use uuid::Uuid;

use super::PublicEvent;
use crate::error::Result;

/// Rows that a purge deletes at once, with all deliveries of each.
const PURGE_BATCH: i64 = 500;

/// How long events stay, with their deliveries: so long a repeat must find them.
const RETENTION: Duration = inbox::REPEATABLE_FOR;

/// The key of the lock that a transaction takes before it assigns positions.
const POSITIONS_LOCK: i64 = 0x7075_626c_6963;

/// Inserts the events that are not there yet, with positions in their order, and returns their ids. No other transaction
/// assigns positions until this one ends: whoever reads a position has seen all lower ones.
pub(super) async fn insert_in_tx(
    conn: &mut PgConnection,
    events: &[PublicEvent],
) -> Result<HashSet<Uuid>, sqlx::Error> {
    let column = |value: fn(&PublicEvent) -> String| events.iter().map(value).collect::<Vec<_>>();
    let times = events.iter().map(|event| event.occurred_at);
    let inserted = sqlx::query_scalar!(
        "with locked as materialized (select pg_advisory_xact_lock($5))
         insert into identity.public_events (id, event_type, data, occurred_at, position)
         select id, event_type, data, occurred_at, nextval('identity.public_events_position_seq')
         from locked, unnest($1::uuid[], $2::text[], $3::text[], $4::timestamptz[]) with ordinality
             as event (id, event_type, data, occurred_at, number)
         order by number
         on conflict (id) do nothing
         returning id",
        &events.iter().map(|event| event.id).collect::<Vec<_>>(),
        &column(|event| event.event_type.clone()),
        &column(|event| event.data.clone()),
        &times.collect::<Vec<_>>(),
        POSITIONS_LOCK,
    );
    let inserted = inserted.fetch_all(conn).await?;
    Ok(inserted.into_iter().collect())
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
    position.fetch_optional(db).await
}

/// Lists the events of these types after the first position and up to the second, with their positions.
pub(super) async fn list_between(
    db: impl PgExecutor<'_>,
    (after, up_to): (i64, i64),
    types: &[String],
    limit: i64,
) -> Result<Vec<(i64, PublicEvent)>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"select position, id, event_type, data, occurred_at
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
             where created_at < now() - make_interval(secs => $1) limit $2)",
        RETENTION.as_secs_f64(),
        PURGE_BATCH,
    )
    .execute(db)
    .await?;
    Ok(deleted.rows_affected() < PURGE_BATCH.unsigned_abs())
}
