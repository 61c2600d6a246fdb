//! The relay publishes in order, whatever the order of commits, and through outages.

use std::collections::HashSet;

use platform::{
    config::Nats,
    messaging::{Lease, jetstream::connect, replay},
    testing::{assert_no_leftovers, eventually},
};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::{
    harness::{Harness, TIMEOUT, header, uuid},
    proxy::Proxy,
};

#[sqlx::test(migrations = false)]
async fn late_commits_are_published(_: PgPoolOptions, options: PgConnectOptions) {
    let harness = Harness::new(options).await;
    harness.start_relay();
    let mut ids = HashSet::new();
    for _ in 0..20 {
        let early = harness.event(uuid(), 1);
        let tx = harness.append([early.message]).await;
        let late_id = harness.commit_event().await;
        eventually("the second is published", TIMEOUT, async || {
            harness.unpublished().await == 0
        })
        .await;
        tx.commit().await.unwrap();
        ids.extend([early.id.to_string(), late_id.to_string()]);
    }
    assert_no_leftovers(&harness.pool, harness.schema).await;
    let stream = harness.stream(40).await;
    let published: HashSet<String> = stream
        .iter()
        .map(|message| header(message, "ce-id"))
        .collect();
    assert_eq!(published, ids);
    harness.drop_stream().await;
}

/// More than a batch of the relay.
const MANY: usize = 1_500;

#[sqlx::test(migrations = false)]
async fn events_of_an_aggregate_do_not_overtake_a_late_commit(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let harness = Harness::new(options).await;
    harness.start_relay();
    let aggregate = uuid();
    let late = harness.event(aggregate, 1);
    let next = harness.event(aggregate, 2);
    let tx = harness.append([late.message]).await;
    harness.commit_events(MANY).await;
    eventually("the others are published", TIMEOUT, async || {
        harness.unpublished().await == 0
    })
    .await;
    tx.commit().await.unwrap();
    harness.commit([next.message]).await;
    let stream = harness.stream(MANY + 2).await;
    let last = [MANY, MANY + 1].map(|index| header(&stream[index], "ce-id"));
    assert_eq!(last, [late.id, next.id].map(|id| id.to_string()));
    assert_no_leftovers(&harness.pool, harness.schema).await;
    harness.drop_stream().await;
}

#[sqlx::test(migrations = false)]
async fn events_of_an_aggregate_keep_their_order(_: PgPoolOptions, options: PgConnectOptions) {
    let harness = Harness::new(options).await;
    let aggregates = [uuid(), uuid(), uuid()];
    let versions = 1..=30;
    let messages =
        versions.flat_map(|version| aggregates.map(|id| harness.event(id, version).message));
    harness.commit(messages).await;
    // Two relays, of which the lease lets one publish.
    harness.start_relay();
    harness.start_relay();
    let stream = harness.stream(90).await;
    for id in aggregates {
        let subject = format!("thing/{id}");
        let versions: Vec<String> = stream
            .iter()
            .filter(|message| header(message, "ce-subject") == subject)
            .map(|message| header(message, "ce-sequence"))
            .collect();
        let expected: Vec<String> = (1..=30).map(|version| version.to_string()).collect();
        assert_eq!(versions, expected);
    }
    assert_no_leftovers(&harness.pool, harness.schema).await;
    harness.drop_stream().await;
}

#[sqlx::test(migrations = false)]
async fn pending_events_without_a_row_are_skipped(_: PgPoolOptions, options: PgConnectOptions) {
    let harness = Harness::new(options).await;
    harness.commit_events(MANY).await;
    harness.execute("delete from :schema.outbox").await;
    let last = harness.commit_event().await;
    harness.start_relay();
    let stream = harness.stream(1).await;
    assert_eq!(header(&stream[0], "ce-id"), last.to_string());
    assert_no_leftovers(&harness.pool, harness.schema).await;
    harness.drop_stream().await;
}

#[sqlx::test(migrations = false)]
async fn a_batch_published_twice_is_stored_once(_: PgPoolOptions, options: PgConnectOptions) {
    let harness = Harness::new(options).await;
    let events: Vec<_> = (0..10).map(|_| harness.event(uuid(), 1)).collect();
    let ids: Vec<_> = events.iter().map(|event| event.id.to_string()).collect();
    harness
        .commit(events.into_iter().map(|event| event.message))
        .await;
    harness.start_relay();
    let all_published = async || harness.unpublished().await == 0;
    eventually("all are published", TIMEOUT, all_published).await;

    harness
        .execute("insert into :schema.outbox_pending select position, position from :schema.outbox")
        .await;
    eventually("all are published again", TIMEOUT, all_published).await;
    let last = harness.commit_event().await.to_string();
    let stream = harness.stream(11).await;
    let published: Vec<_> = stream
        .iter()
        .map(|message| header(message, "ce-id"))
        .collect();
    assert_eq!(published, [ids, vec![last]].concat());
    let batch = header(&stream[0], "Nats-Batch-Id");
    let in_one_batch = stream[..10]
        .iter()
        .all(|message| header(message, "Nats-Batch-Id") == batch);
    assert!(in_one_batch);
    harness.drop_stream().await;
}

#[sqlx::test(migrations = false)]
async fn events_have_cloudevents_headers(_: PgPoolOptions, options: PgConnectOptions) {
    let harness = Harness::new(options).await;
    harness.start_relay();
    let id = harness.commit_event().await.to_string();
    let stream = harness.stream(1).await;
    let context = harness.schema.name();
    let event_type = format!("guerdon.{context}.v1.ThingDone");
    assert_eq!(stream[0].subject.as_str(), event_type);
    for (name, value) in [
        ("ce-specversion", "1.0"),
        ("ce-id", &*id),
        ("ce-type", &event_type),
        ("ce-source", &format!("/guerdon/{context}")),
        ("ce-sequence", "1"),
        ("Nats-Msg-Id", &id),
    ] {
        assert_eq!(header(&stream[0], name), value, "{name}");
    }
    assert!(header(&stream[0], "ce-subject").starts_with("thing/"));
    assert!(header(&stream[0], "ce-time").ends_with('Z'));
    harness.drop_stream().await;
}

#[sqlx::test(migrations = false)]
async fn events_are_published_after_an_outage_of_nats(_: PgPoolOptions, options: PgConnectOptions) {
    let harness = Harness::new(options).await;
    let (proxy, url) = Proxy::to_nats().await;
    let js = connect(&Nats::at(&url), "platform-tests").await.unwrap();
    harness.start_relay_through(js);
    harness.commit_event().await;
    proxy.connect();
    eventually(
        "it is published once NATS is available",
        TIMEOUT,
        async || harness.unpublished().await == 0,
    )
    .await;
    proxy.disconnect();
    for _ in 0..50 {
        harness.commit_event().await;
    }
    proxy.connect();
    assert_eq!(harness.stream(51).await.len(), 51);
    eventually("all are published", TIMEOUT, async || {
        harness.unpublished().await == 0
    })
    .await;
    harness.drop_stream().await;
}

#[sqlx::test(migrations = false)]
async fn a_lost_stream_is_created_again_and_replayed(_: PgPoolOptions, options: PgConnectOptions) {
    let harness = Harness::new(options).await;
    harness.start_relay();
    let first = harness.commit_event().await.to_string();
    eventually("it is published", TIMEOUT, async || {
        harness.unpublished().await == 0
    })
    .await;
    harness.drop_stream().await;
    let second = harness.commit_event().await.to_string();
    eventually("the next one is published", TIMEOUT, async || {
        harness.unpublished().await == 0
    })
    .await;

    // Within JetStream's deduplication window, and stored nevertheless.
    let since = chrono::DateTime::UNIX_EPOCH;
    assert_eq!(
        replay(&harness.pool, harness.schema, &harness.js, 1, since)
            .await
            .unwrap(),
        2
    );
    let stream = harness.stream(3).await;
    let ids: Vec<String> = stream
        .iter()
        .map(|message| header(message, "ce-id"))
        .collect();
    assert_eq!(ids[0], second);
    assert_eq!(
        HashSet::from([&ids[1], &ids[2]]),
        HashSet::from([&first, &second])
    );
    harness.drop_stream().await;
}

#[sqlx::test(migrations = false)]
async fn a_lease_has_one_holder_until_it_is_released_or_expires(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let harness = Harness::new(options).await;
    let mut one = Lease::new(harness.pool.clone(), harness.schema, "job");
    let mut other = Lease::new(harness.pool.clone(), harness.schema, "job");
    let mut elsewhere = Lease::new(harness.pool.clone(), harness.schema, "another job");
    assert!(one.hold().await.unwrap() && one.hold().await.unwrap());
    assert!(!other.hold().await.unwrap());
    assert!(elsewhere.hold().await.unwrap());
    one.release().await.unwrap();
    eventually("released", TIMEOUT, async || other.hold().await.unwrap()).await;
    harness
        .execute("update :schema.leases set expires_at = now() - interval '1 second'")
        .await;
    assert!(one.hold().await.unwrap(), "expired");
}
