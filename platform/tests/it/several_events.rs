//! One consumer takes several events of a context.

use platform::{
    error::{Code, Failure},
    messaging::{
        inbox::{self, BatchHandler, Body, Consumer, Event},
        outbox::{Aggregate, Message},
        replay,
    },
    testing::{assert_no_leftovers, eventually},
};
use prost_types::Timestamp;
use sqlx::{
    PgConnection,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use tokio::sync::watch;
use uuid::Uuid;

use crate::harness::{Harness, TIMEOUT, uuid};

const CONSUMER: &str = "things";

/// Name and version of an event.
struct Change(String);

impl Body for Change {
    fn decode(event_type: &str, bytes: bytes::Bytes) -> Result<Self, String> {
        let version = <Timestamp as Body>::decode(event_type, bytes)?.seconds;
        let name = event_type.rsplit('.').next().unwrap();
        Ok(Self(format!("{name} {version}")))
    }
}

/// The version of an event that waits for a gate.
const GATED: i64 = 1;
/// The version of an event that fails until there is a row for [`LATER`].
const FAILING: i64 = 3;
const LATER: i64 = 9;

/// Inserts a row for each event, if it is not there.
#[derive(Clone)]
struct Keep {
    schema: &'static str,
    /// Whether [`GATED`] may be applied.
    is_open: watch::Receiver<bool>,
}

impl BatchHandler for Keep {
    type Body = Change;

    const IS_IDEMPOTENT: bool = true;

    async fn apply_all_in_tx(
        &self,
        conn: &mut PgConnection,
        events: Vec<Event<Change>>,
    ) -> Result<(), Failure> {
        let schema = self.schema;
        let later =
            format!("select exists (select from {schema}.changes where name like '% {LATER}')");
        let later = sqlx::query_scalar(sqlx::AssertSqlSafe(later));
        let has_later: bool = later.fetch_one(&mut *conn).await?;
        for Event { envelope, body, .. } in events {
            if envelope.version == FAILING && !has_later {
                return Err(Failure::new(
                    Code::Internal,
                    "the later version is not there",
                ));
            }
            if envelope.version == GATED {
                let mut is_open = self.is_open.clone();
                is_open.wait_for(|is_open| *is_open).await.unwrap();
            }
            let insert = format!(
                "insert into {schema}.changes (id, name) values ($1, $2) on conflict do nothing"
            );
            let insert = sqlx::query(sqlx::AssertSqlSafe(insert));
            let insert = insert.bind(envelope.id).bind(body.0);
            insert.execute(&mut *conn).await?;
        }
        Ok(())
    }
}

fn message(harness: &Harness, name: &'static str, id: Uuid, version: i64) -> Message {
    let aggregate = Aggregate {
        kind: "thing",
        id,
        version,
    };
    let body = Timestamp {
        seconds: version,
        nanos: 0,
    };
    Message::new(harness.schema, uuid(), name, aggregate, &body)
}

/// Creates a harness with a relay, and with a table for the names of events.
async fn start(options: PgConnectOptions) -> Harness {
    let harness = Harness::new(options).await;
    harness
        .execute(
            "create table :schema.changes (number bigserial, id uuid primary key, name text not null)",
        )
        .await;
    harness.start_relay();
    harness
}

/// Starts the consumer, which applies [`GATED`] when the gate is open.
fn consume(harness: &Harness, is_open: watch::Receiver<bool>) {
    let (schema, durable) = (harness.schema, CONSUMER.to_owned());
    let mut consumer = Consumer::of_events(durable, schema, schema, &["ThingDone", "ThingUndone"]);
    consumer.first_delay = std::time::Duration::from_millis(2);
    tokio::spawn(inbox::run(
        consumer,
        harness.js.clone(),
        harness.pool.clone(),
        Keep {
            schema: schema.name(),
            is_open,
        },
        harness.token.clone(),
    ));
}

async fn names(harness: &Harness) -> Vec<String> {
    let schema = harness.schema.name();
    let names = format!("select name from {schema}.changes order by number");
    let names = sqlx::query_scalar(sqlx::AssertSqlSafe(names));
    names.fetch_all(&harness.pool).await.unwrap()
}

async fn wait_for(harness: &Harness, count: usize) {
    eventually("the events are applied", TIMEOUT, async || {
        names(harness).await.len() == count
    })
    .await;
}

#[sqlx::test(migrations = false)]
async fn they_are_applied_in_their_order_and_once(_: PgPoolOptions, options: PgConnectOptions) {
    let harness = start(options).await;
    consume(&harness, watch::channel(true).1);
    let mut expected = Vec::new();
    let mut messages = Vec::new();
    for thing in 0..40 {
        let id = uuid();
        for (name, version) in [("ThingDone", 1), ("ThingShown", 2), ("ThingUndone", 5)] {
            messages.push(message(&harness, name, id, version));
            if name != "ThingShown" {
                expected.push(format!("{name} {version}"));
            }
        }
        // In several batches of the relay.
        if thing % 10 == 9 {
            harness.commit(messages.drain(..)).await;
        }
    }
    wait_for(&harness, expected.len()).await;
    assert_eq!(names(&harness).await, expected);

    let since = chrono::DateTime::UNIX_EPOCH;
    replay(&harness.pool, harness.schema, &harness.js, 1, since)
        .await
        .unwrap();
    // All that is replayed is handled when this one is.
    harness
        .commit([message(&harness, "ThingDone", uuid(), 7)])
        .await;
    expected.push("ThingDone 7".to_owned());
    wait_for(&harness, expected.len()).await;
    assert_eq!(names(&harness).await, expected);
    assert_eq!(harness.count("select count(*) from :schema.inbox").await, 0);
    assert_no_leftovers(&harness.pool, harness.schema).await;
    harness.drop_stream().await;
}

#[sqlx::test(migrations = false)]
async fn one_that_fails_does_not_hold_the_others(_: PgPoolOptions, options: PgConnectOptions) {
    let harness = start(options).await;
    consume(&harness, watch::channel(true).1);
    let id = uuid();
    let messages = (1..=LATER).map(|version| message(&harness, "ThingDone", id, version));
    harness.commit(messages.collect::<Vec<_>>()).await;
    let mut order: Vec<i64> = (1..=LATER).filter(|version| *version != FAILING).collect();
    order.push(FAILING);
    wait_for(&harness, order.len()).await;
    let expected: Vec<_> = order.iter().map(|v| format!("ThingDone {v}")).collect();
    assert_eq!(names(&harness).await, expected);
    // The failures of the event are forgotten.
    assert_no_leftovers(&harness.pool, harness.schema).await;
    harness.drop_stream().await;
}

#[sqlx::test(migrations = false)]
async fn what_arrives_later_waits(_: PgPoolOptions, options: PgConnectOptions) {
    let (gate, is_open) = watch::channel(false);
    let harness = start(options).await;
    let id = uuid();
    let done = |version| message(&harness, "ThingDone", id, version);
    // Before the consumer pulls: one pull must last until all is delivered.
    harness.commit([done(GATED)]).await;
    eventually("the first event is published", TIMEOUT, async || {
        harness.unpublished().await == 0
    })
    .await;
    consume(&harness, is_open);
    for (versions, delivered) in [(&[2, 4][..], 3), (&[5, 6], 5)] {
        harness
            .commit(versions.iter().map(|version| done(*version)))
            .await;
        eventually("the consumer has the events", TIMEOUT, async || {
            let info = harness.consumer_info(CONSUMER).await;
            info.is_some_and(|info| info.num_ack_pending == delivered)
        })
        .await;
    }
    gate.send_replace(true);
    wait_for(&harness, 5).await;
    let expected = [GATED, 2, 4, 5, 6].map(|version| format!("ThingDone {version}"));
    assert_eq!(names(&harness).await, expected);
    harness.drop_stream().await;
}
