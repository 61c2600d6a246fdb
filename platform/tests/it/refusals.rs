//! Events that JetStream refuses, whenever they are published, hold up the others for a few seconds only.

use platform::{
    messaging::{
        dead_letters::{self, DeadLetter},
        outbox::{Aggregate, Message},
        replay,
    },
    testing::{assert_no_leftovers, eventually},
};
use prost_types::Any;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use uuid::Uuid;

use crate::harness::{Event, Harness, TIMEOUT, header, uuid};

/// Creates an event that is larger than the server's limit of a message.
fn too_large(harness: &Harness, id: Uuid, version: i64) -> Event {
    let aggregate = Aggregate {
        kind: "thing",
        id,
        version,
    };
    let body = Any {
        type_url: String::new(),
        value: vec![0; 2 << 20],
    };
    let id = uuid();
    let message = Message::new(harness.schema, id, "ThingDone", aggregate, &body);
    Event { id, message }
}

async fn parked(harness: &Harness) -> Vec<DeadLetter> {
    let listed = dead_letters::list(&harness.pool, harness.schema).await;
    listed.unwrap()
}

async fn wait_until_published(harness: &Harness) {
    eventually("no event is pending", TIMEOUT, async || {
        harness.unpublished().await == 0
    })
    .await;
}

/// Returns the ids of the first messages of the stream.
async fn ids(harness: &Harness, messages: usize) -> Vec<String> {
    let stream = harness.stream(messages).await;
    stream.iter().map(|it| header(it, "ce-id")).collect()
}

#[sqlx::test(migrations = false)]
async fn a_refused_event_is_parked_and_the_later_ones_of_its_aggregate_go_on(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let harness = Harness::new(options).await;
    let aggregate = uuid();
    let refused = too_large(&harness, aggregate, 1);
    let later = harness.event(aggregate, 2);
    let other = harness.event(uuid(), 1);
    harness
        .commit([refused.message, later.message, other.message])
        .await;
    harness.start_relay();
    eventually("a refusal is counted", TIMEOUT, async || {
        harness
            .count("select count(*) from :schema.dead_letters")
            .await
            == 1
    })
    .await;
    assert_eq!(ids(&harness, 1).await, [other.id.to_string()]);
    assert!(parked(&harness).await.is_empty(), "not after one refusal");

    wait_until_published(&harness).await;
    let in_order = [other.id, later.id].map(|id| id.to_string());
    assert_eq!(ids(&harness, 2).await, in_order);
    let letters = parked(&harness).await;
    let [letter] = letters.as_slice() else {
        panic!("{letters:?}");
    };
    assert_eq!((&*letter.consumer, letter.event_id), ("relay", refused.id));
    assert_eq!(letter.failures, 10);
    assert!(letter.reason.contains("max payload"), "{}", letter.reason);
    harness.drop_stream().await;
}

#[sqlx::test(migrations = false)]
async fn a_refused_event_is_published_by_a_retry_that_is_accepted(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let harness = Harness::new(options).await;
    let events = [(); 2].map(|()| too_large(&harness, uuid(), 1));
    let [small, large] = [0, 1].map(|event: usize| events[event].id);
    harness.commit(events.map(|event| event.message)).await;
    harness.start_relay();
    wait_until_published(&harness).await;
    assert_eq!(parked(&harness).await.len(), 2);

    // The limit of one of them is raised, so to say.
    let shorten = format!("update :schema.dead_letters set body = '' where event_id = '{small}'");
    harness.execute(&shorten).await;
    let retried = dead_letters::retry(&harness.pool, harness.schema, &harness.js, None).await;
    assert_eq!(retried.unwrap(), 1);
    let stream = harness.stream(1).await;
    assert_eq!(header(&stream[0], "ce-id"), small.to_string());
    let headers = stream[0].headers.as_ref().unwrap();
    assert!(headers.get("guerdon-consumer").is_none(), "for everybody");
    let left = parked(&harness).await;
    assert_eq!((left.len(), left[0].event_id), (1, large));
    harness.drop_stream().await;
}

#[sqlx::test(migrations = false)]
async fn a_replay_skips_events_that_are_refused(_: PgPoolOptions, options: PgConnectOptions) {
    let harness = Harness::new(options).await;
    let aggregate = uuid();
    let later = harness.event(aggregate, 2);
    let events = [too_large(&harness, aggregate, 1).message, later.message];
    harness.commit(events).await;
    harness.execute("delete from :schema.outbox_pending").await;
    let since = chrono::DateTime::UNIX_EPOCH;
    let replayed = replay(&harness.pool, harness.schema, &harness.js, 1, since).await;
    assert_eq!(replayed.unwrap(), 1);
    assert_eq!(ids(&harness, 1).await, [later.id.to_string()]);
    assert_no_leftovers(&harness.pool, harness.schema).await;
    harness.drop_stream().await;
}
