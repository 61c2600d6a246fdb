//! The outbox: events written in the transaction of what they tell.
//!
//! An event's version is given out by the caller under the lock of its aggregate's row, so that
//! order of versions, order of insertion and order of commits are the same.

use std::sync::LazyLock;

use sqlx::PgConnection;
use tokio::sync::watch;
use uuid::Uuid;

use crate::{pg::Schema, telemetry};

/// Tells the relays of this process that something was appended.
static APPENDED: LazyLock<watch::Sender<()>> = LazyLock::new(|| watch::Sender::new(()));

/// What an event is about.
#[derive(Debug, Clone, Copy)]
pub struct Aggregate {
    /// `order`, `transaction`, …
    pub kind: &'static str,
    /// Its id.
    pub id: Uuid,
    /// Number of this event among those of the aggregate, from 1.
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
    /// The event `guerdon.<context>.v1.<event>` with a fresh UUIDv7 as its id. Remembers the current
    /// span, of which the consumers' spans become children: make it where the request is handled.
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

/// Subject and CloudEvents type of an event.
pub(super) fn event_type(context: Schema, event: &str) -> String {
    format!("guerdon.{}.v1.{event}", context.name())
}

/// Messages as columns for `unnest`, in the order of [`Columns::INSERT`]; for engines that write
/// their outbox rows with other rows in one statement. They call [`wake`] after the commit.
#[derive(Debug, Default)]
pub struct Columns {
    /// `uuid[]`
    pub ids: Vec<Uuid>,
    /// `text[]`
    pub event_types: Vec<String>,
    /// `text[]`
    pub aggregate_kinds: Vec<&'static str>,
    /// `uuid[]`
    pub aggregate_ids: Vec<Uuid>,
    /// `bigint[]`
    pub aggregate_versions: Vec<i64>,
    /// `bytea[]`
    pub bodies: Vec<Vec<u8>>,
    /// `text[]`
    pub traceparents: Vec<Option<String>>,
}

impl Columns {
    /// The statement these columns are for. `unnest` keeps their order, and with it the positions.
    pub const INSERT: &str = "
        with told as (
            insert into :schema.outbox
                (id, event_type, aggregate_kind, aggregate_id, aggregate_version, body, traceparent)
            select * from unnest
                ($1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::bigint[], $6::bytea[], $7::text[])
            returning position)
        insert into :schema.outbox_pending
        select min(position), max(position)
        from (select position, position - row_number() over (order by position) as run from told) runs
        group by run";

    /// Adds one row.
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

/// Appends events in the caller's transaction; they leave within milliseconds of its commit.
pub async fn append_in_tx(
    conn: &mut PgConnection,
    schema: Schema,
    messages: &[Message],
) -> Result<(), sqlx::Error> {
    let mut columns = Columns::default();
    for message in messages {
        columns.push(message.clone());
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

/// Makes the relay look at once, and again a few times within the next half second: an append is
/// announced before its commit.
pub fn wake() {
    APPENDED.send_replace(());
}

pub(super) fn appended() -> watch::Receiver<()> {
    APPENDED.subscribe()
}
