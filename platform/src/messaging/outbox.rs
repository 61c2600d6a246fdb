//! The outbox: events are inserted in the transaction of the change that they describe.
//!
//! The caller assigns an event's version under the lock of its aggregate's row, so that versions,
//! positions and commits of an aggregate have the same order.

use std::sync::LazyLock;

use sqlx::PgConnection;
use tokio::sync::watch;
use uuid::Uuid;

use crate::{pg::Schema, telemetry};

/// Wakes the relays of this process after an append.
static APPENDED: LazyLock<watch::Sender<()>> = LazyLock::new(|| watch::Sender::new(()));

/// The aggregate of an event.
#[derive(Debug, Clone, Copy)]
pub struct Aggregate {
    /// Kind, such as `order` or `transaction`.
    pub kind: &'static str,
    /// Id of the aggregate.
    pub id: Uuid,
    /// Number of the event among those of the aggregate, from 1.
    pub version: i64,
}

/// An event to publish.
#[derive(Debug, Clone)]
pub struct Message {
    id: Uuid,
    event_type: String,
    aggregate: Aggregate,
    body: Vec<u8>,
    traceparent: Option<String>,
}

impl Message {
    /// Creates the event `guerdon.<context>.v1.<event>`. Its consumers' spans become children of the
    /// current span, so call it where the request is handled.
    pub fn new(
        context: Schema,
        id: Uuid,
        event: &str,
        aggregate: Aggregate,
        body: &impl prost::Message,
    ) -> Self {
        Self {
            id,
            event_type: event_type(context, event),
            aggregate,
            body: body.encode_to_vec(),
            traceparent: telemetry::current_traceparent(),
        }
    }
}

/// Returns the subject of an event, which is also its CloudEvents type.
pub(super) fn event_type(context: Schema, event: &str) -> String {
    format!("guerdon.{}.v1.{event}", context.name())
}

/// Messages as columns for `unnest`, in the order of [`Columns::INSERT`]; for engines that insert
/// events together with other rows in one statement. They call [`wake`] after the commit.
#[derive(Debug, Default)]
pub struct Columns {
    /// Parameter 1, `uuid[]`.
    pub ids: Vec<Uuid>,
    /// Parameter 2, `text[]`.
    pub event_types: Vec<String>,
    /// Parameter 3, `text[]`.
    pub aggregate_kinds: Vec<&'static str>,
    /// Parameter 4, `uuid[]`.
    pub aggregate_ids: Vec<Uuid>,
    /// Parameter 5, `bigint[]`.
    pub aggregate_versions: Vec<i64>,
    /// Parameter 6, `bytea[]`.
    pub bodies: Vec<Vec<u8>>,
    /// Parameter 7, `text[]`.
    pub traceparents: Vec<Option<String>>,
}

/// Inserts the ranges of the positions that the CTE `inserted_events` returns.
macro_rules! insert_ranges {
    () => {
        "insert into :schema.outbox_pending
        select min(position), max(position)
        from (
            select position, position - row_number() over (order by position) as range
            from inserted_events) positions
        group by range"
    };
}

/// The part of [`Columns::INSERT`] that engines repeat in their statement after `inserted_events`.
pub const INSERT_RANGES: &str = insert_ranges!();

impl Columns {
    /// Inserts the events and their ranges of positions. `unnest` keeps the order of the events.
    pub const INSERT: &str = concat!(
        "with inserted_events as (
            insert into :schema.outbox
                (id, event_type, aggregate_kind, aggregate_id, aggregate_version, body, traceparent)
            select * from unnest
                ($1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::bigint[], $6::bytea[], $7::text[])
            returning position)
        ",
        insert_ranges!()
    );

    /// Adds an event.
    pub fn push(&mut self, message: Message) {
        self.ids.push(message.id);
        self.event_types.push(message.event_type);
        self.aggregate_kinds.push(message.aggregate.kind);
        self.aggregate_ids.push(message.aggregate.id);
        self.aggregate_versions.push(message.aggregate.version);
        self.bodies.push(message.body);
        self.traceparents.push(message.traceparent);
    }
}

impl FromIterator<Message> for Columns {
    fn from_iter<I: IntoIterator<Item = Message>>(messages: I) -> Self {
        let mut columns = Self::default();
        for message in messages {
            columns.push(message);
        }
        columns
    }
}

/// Appends events in the caller's transaction; they are published within milliseconds of its commit.
pub async fn append_in_tx(
    conn: &mut PgConnection,
    schema: Schema,
    messages: impl IntoIterator<Item = Message>,
) -> Result<(), sqlx::Error> {
    let columns = Columns::from_iter(messages);
    if columns.ids.is_empty() {
        return Ok(());
    }
    sqlx::query(schema.sql(Columns::INSERT))
        .bind(columns.ids)
        .bind(columns.event_types)
        .bind(columns.aggregate_kinds)
        .bind(columns.aggregate_ids)
        .bind(columns.aggregate_versions)
        .bind(columns.bodies)
        .bind(columns.traceparents)
        .execute(conn)
        .await?;
    wake();
    Ok(())
}

/// Makes the relay poll now, and a few times within the next half second because an append is
/// announced before its commit.
pub fn wake() {
    APPENDED.send_replace(());
}

pub(super) fn appended() -> watch::Receiver<()> {
    APPENDED.subscribe()
}
