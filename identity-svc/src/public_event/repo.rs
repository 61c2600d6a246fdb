//! SQL of public events.

use std::{collections::HashSet, time::Duration};

use platform::messaging::inbox;
use sqlx::{PgConnection, PgExecutor};
use uuid::Uuid;

use super::EventRow;
use crate::error::Result;

/// Rows that a purge deletes at once, with all deliveries of each.
const PURGE_BATCH: i64 = 500;

/// How long events stay, with their deliveries. A repeated event must find its row.
const RETENTION: Duration = inbox::REPEATABLE_FOR;

/// The key of the lock that a transaction takes before it assigns positions.
const POSITIONS_LOCK: i64 = 0x7075_626c_6963;

/// Inserts the rows that are not there yet, with positions in their order, and returns their ids. No other transaction
/// assigns positions until this one ends: whoever reads a position has seen all lower ones.
pub(super) async fn insert_in_tx(
    conn: &mut PgConnection,
    rows: &[EventRow],
) -> Result<HashSet<Uuid>, sqlx::Error> {
    let column = |value: fn(&EventRow) -> &str| rows.iter().map(value).collect::<Vec<_>>();
    let before = rows.iter().map(|row| row.before_type.as_deref());
    let times = rows.iter().map(|row| row.occurred_at);
    let inserted = sqlx::query_scalar!(
        "with locked as materialized (select pg_advisory_xact_lock($6))
         insert into identity.public_events
             (id, event_type, before_type, data, occurred_at, position)
         select id, event_type, before_type, data, occurred_at,
             nextval('identity.public_events_position_seq')
         from locked,
             unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::timestamptz[]) with ordinality
                 as event (id, event_type, before_type, data, occurred_at, number)
         order by number
         on conflict (id) do nothing
         returning id",
        &rows.iter().map(|row| row.id).collect::<Vec<_>>(),
        &column(|row| &row.event_type) as _,
        &before.collect::<Vec<_>>() as _,
        &column(|row| &row.data) as _,
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

/// Finds the position after which the events come that follow this one. One that comes before another is in the
/// row of that other one, which then is the first to be read.
pub(super) async fn find_position(
    db: impl PgExecutor<'_>,
    event_id: Uuid,
) -> Result<Option<i64>, sqlx::Error> {
    let position = sqlx::query_scalar!(
        r#"select case when id = $1 then position else position - 1 end as "position!"
           from identity.public_events
           where id = $1 or (id = $2 and before_type is not null)"#,
        event_id,
        EventRow::id_after(event_id),
    );
    position.fetch_optional(db).await
}

/// Lists the rows with an event of these types after the first position and up to the second, with their
/// positions.
pub(super) async fn list_between(
    db: impl PgExecutor<'_>,
    (after, up_to): (i64, i64),
    types: &[String],
    limit: i64,
) -> Result<Vec<(i64, EventRow)>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"select position, id, event_type, before_type, data, occurred_at
           from identity.public_events
           where position > $1 and position <= $2
             and (event_type = any($3) or before_type = any($3))
           order by position limit $4"#,
        after,
        up_to,
        types,
        limit,
    )
    .fetch_all(db)
    .await?;
    let rows = rows.into_iter().map(|row| {
        let event = EventRow {
            id: row.id,
            event_type: row.event_type,
            before_type: row.before_type,
            data: row.data,
            occurred_at: row.occurred_at,
        };
        (row.position, event)
    });
    Ok(rows.collect())
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
