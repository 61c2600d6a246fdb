//! The outbox leaves in order, whatever the order of commits and whoever is away.

use std::collections::HashSet;

use platform::{
    messaging::{
        Lease,
        jetstream::connect,
        outbox::{Aggregate, Message},
        replay,
    },
    testing::{assert_no_leftovers, eventually},
};
use prost_types::Any;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::{
    bed::{Bed, SOON, env, header, uuid},
    link::Link,
};

#[sqlx::test(migrations = false)]
async fn late_commits_are_published(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    bed.start_relay();
    let mut ids = HashSet::new();
    for _ in 0..20 {
        let (early_id, early) = bed.message(uuid(), 1);
        let tx = bed.append(&[early]).await;
        let late_id = bed.commit_event().await;
        eventually("the second is published", SOON, async || {
            bed.unpublished().await == 0
        })
        .await;
        tx.commit().await.unwrap();
        ids.extend([early_id.to_string(), late_id.to_string()]);
    }
    assert_no_leftovers(&bed.pool, bed.schema).await;
    let stream = bed.stream(40).await;
    let published: HashSet<String> = stream
        .iter()
        .map(|message| header(message, "ce-id"))
        .collect();
    assert_eq!(published, ids);
    bed.drop_stream().await;
}

/// More than a relay publishes at once.
const MANY: usize = 1_500;

#[sqlx::test(migrations = false)]
async fn a_commit_far_behind_the_others_is_not_overtaken(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let bed = Bed::new(options).await;
    bed.start_relay();
    let aggregate = uuid();
    let (late_id, late) = bed.message(aggregate, 1);
    let (next_id, next) = bed.message(aggregate, 2);
    let tx = bed.append(&[late]).await;
    bed.commit_events(MANY).await;
    eventually("the others are published", SOON, async || {
        bed.unpublished().await == 0
    })
    .await;
    tx.commit().await.unwrap();
    bed.commit(&[next]).await;
    let stream = bed.stream(MANY + 2).await;
    let last = [MANY, MANY + 1].map(|place| header(&stream[place], "ce-id"));
    assert_eq!(last, [late_id, next_id].map(|id| id.to_string()));
    assert_no_leftovers(&bed.pool, bed.schema).await;
    bed.drop_stream().await;
}

#[sqlx::test(migrations = false)]
async fn events_of_an_aggregate_keep_their_order(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    let aggregates = [uuid(), uuid(), uuid()];
    let versions = 1..=30;
    let messages: Vec<_> = versions
        .flat_map(|version| aggregates.map(|id| bed.message(id, version).1))
        .collect();
    bed.commit(&messages).await;
    // Two relays: the lease lets one of them work.
    bed.start_relay();
    bed.start_relay();
    let stream = bed.stream(90).await;
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
    assert_no_leftovers(&bed.pool, bed.schema).await;
    bed.drop_stream().await;
}

#[sqlx::test(migrations = false)]
async fn nothing_overtakes_an_event_that_cannot_be_published(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let bed = Bed::new(options).await;
    let stuck = Aggregate {
        kind: "thing",
        id: uuid(),
        version: 1,
    };
    // More than a message of this server may hold.
    let too_large = Any {
        type_url: String::new(),
        value: vec![0; 2 << 20],
    };
    let first = Message::new(bed.schema, uuid(), "ThingDone", stuck, &too_large);
    bed.commit(&[first, bed.message(uuid(), 1).1]).await;
    bed.start_relay();
    bed.commit_events(MANY).await;
    eventually("the others are published", SOON, async || {
        bed.unpublished().await == 1
    })
    .await;
    bed.commit(&[bed.message(stuck.id, 2).1]).await;
    let last = bed.commit_event().await;
    let stream = bed.stream(MANY + 2).await;
    assert_eq!(header(&stream[MANY + 1], "ce-id"), last.to_string());
    let held_back = format!("thing/{}", stuck.id);
    assert!(
        stream
            .iter()
            .all(|message| header(message, "ce-subject") != held_back)
    );
    eventually("the last is marked", SOON, async || {
        bed.unpublished().await == 2
    })
    .await;
    bed.drop_stream().await;
}

#[sqlx::test(migrations = false)]
async fn a_batch_that_was_stored_is_not_stored_again(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    let messages: Vec<_> = (0..10).map(|_| bed.message(uuid(), 1)).collect();
    let ids: Vec<_> = messages.iter().map(|(id, _)| id.to_string()).collect();
    let messages: Vec<_> = messages.into_iter().map(|(_, message)| message).collect();
    bed.commit(&messages).await;
    bed.start_relay();
    let all_published = async || bed.unpublished().await == 0;
    eventually("all are published", SOON, all_published).await;

    bed.execute("insert into :schema.outbox_pending select position, position from :schema.outbox")
        .await;
    eventually("all are published again", SOON, all_published).await;
    let last = bed.commit_event().await.to_string();
    let stream = bed.stream(11).await;
    let published: Vec<_> = stream
        .iter()
        .map(|message| header(message, "ce-id"))
        .collect();
    assert_eq!(published, [ids, vec![last]].concat());
    // They went together.
    let batch = header(&stream[0], "Nats-Batch-Id");
    let together = stream[..10]
        .iter()
        .all(|message| header(message, "Nats-Batch-Id") == batch);
    assert!(together);
    bed.drop_stream().await;
}

#[sqlx::test(migrations = false)]
async fn headers_are_cloudevents(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    bed.start_relay();
    let id = bed.commit_event().await.to_string();
    let stream = bed.stream(1).await;
    let context = bed.schema.name();
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
    bed.drop_stream().await;
}

#[sqlx::test(migrations = false)]
async fn the_outbox_waits_while_nats_is_away(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    let nats = env("NATS_URL").replace("nats://", "");
    let link = Link::to(nats, false).await;
    let js = connect(&format!("nats://{}", link.address), "platform-tests")
        .await
        .unwrap();
    bed.start_relay_through(js);
    bed.commit_event().await;
    link.mend();
    eventually("it leaves once NATS is there", SOON, async || {
        bed.unpublished().await == 0
    })
    .await;
    link.cut();
    for _ in 0..50 {
        bed.commit_event().await;
    }
    link.mend();
    assert_eq!(bed.stream(51).await.len(), 51);
    eventually("all of it left", SOON, async || {
        bed.unpublished().await == 0
    })
    .await;
    bed.drop_stream().await;
}

#[sqlx::test(migrations = false)]
async fn a_lost_stream_is_made_again_and_replayed(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    bed.start_relay();
    let first = bed.commit_event().await.to_string();
    eventually("it left", SOON, async || bed.unpublished().await == 0).await;
    bed.drop_stream().await;
    let second = bed.commit_event().await.to_string();
    eventually("the next one left", SOON, async || {
        bed.unpublished().await == 0
    })
    .await;

    // Replayed at once, within JetStream's deduplication window, and yet stored.
    let since = chrono::DateTime::UNIX_EPOCH;
    assert_eq!(
        replay(&bed.pool, bed.schema, &bed.js, since).await.unwrap(),
        2
    );
    let stream = bed.stream(3).await;
    let ids: Vec<String> = stream
        .iter()
        .map(|message| header(message, "ce-id"))
        .collect();
    assert_eq!(ids[0], second);
    assert_eq!(
        HashSet::from([&ids[1], &ids[2]]),
        HashSet::from([&first, &second])
    );
    bed.drop_stream().await;
}

#[sqlx::test(migrations = false)]
async fn a_lease_has_one_holder(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    let mut one = Lease::new(bed.pool.clone(), bed.schema, "job");
    let mut other = Lease::new(bed.pool.clone(), bed.schema, "job");
    let mut elsewhere = Lease::new(bed.pool.clone(), bed.schema, "another job");
    assert!(one.hold().await.unwrap() && one.hold().await.unwrap());
    assert!(!other.hold().await.unwrap());
    assert!(elsewhere.hold().await.unwrap());
    one.release().await.unwrap();
    eventually("released", SOON, async || other.hold().await.unwrap()).await;
    bed.execute("update :schema.leases set expires_at = now() - interval '1 second'")
        .await;
    assert!(one.hold().await.unwrap(), "expired");
}
