//! Events are applied once, and transient errors are retried.

use std::sync::atomic::Ordering;

use platform::{
    error::Code,
    messaging::{jetstream::stream_name, replay},
    testing::{assert_no_leftovers, eventually},
};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::{effects::Effects, harness::TIMEOUT};

#[sqlx::test(migrations = false)]
async fn a_redelivered_event_is_applied_once(_: PgPoolOptions, options: PgConnectOptions) {
    let effects = Effects::new(options).await;
    let harness = &effects.harness;
    effects.start();
    harness.commit_event().await;
    harness.commit_event().await;
    effects.wait_for(2).await;
    for _ in 0..3 {
        let since = chrono::DateTime::UNIX_EPOCH;
        replay(&harness.pool, harness.schema, &harness.js, 1, since)
            .await
            .unwrap();
    }
    // All eight are handled when the ninth is.
    harness.commit_event().await;
    effects.wait_for(3).await;
    let stream = harness.js.get_stream(stream_name(harness.schema)).await;
    let stream = stream.unwrap();
    eventually("all are acknowledged", TIMEOUT, async || {
        let info = stream.consumer_info("counting-svc-ThingDone").await;
        info.unwrap().ack_floor.stream_sequence == 9
    })
    .await;
    assert_eq!(effects.count().await, 3);
    assert_eq!(harness.count("select count(*) from :schema.inbox").await, 3);
    assert_no_leftovers(&harness.pool, harness.schema).await;
    harness.drop_stream().await;
}

#[sqlx::test(migrations = false)]
async fn transient_errors_are_retried_without_counting(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let effects = Effects::new(options).await;
    let harness = &effects.harness;
    let handler = effects.start_failing(15, Code::Unavailable);
    harness.commit_event().await;
    eventually("one effect", TIMEOUT * 3, async || {
        effects.count().await == 1
    })
    .await;
    assert_eq!(handler.failures_left.load(Ordering::SeqCst), 0);
    assert_no_leftovers(&harness.pool, harness.schema).await;
    harness.drop_stream().await;
}

#[sqlx::test(migrations = false)]
async fn a_missing_consumer_and_stream_are_created_again(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let effects = Effects::new(options).await;
    let harness = &effects.harness;
    effects.start();
    harness.commit_event().await;
    effects.wait_for(1).await;
    let stream = harness.js.get_stream(stream_name(harness.schema)).await;
    let consumer = "counting-svc-ThingDone";
    stream.unwrap().delete_consumer(consumer).await.unwrap();
    harness.commit_event().await;
    effects.wait_for(2).await;
    harness.drop_stream().await;
    harness.commit_event().await;
    effects.wait_for(3).await;
    harness.drop_stream().await;
}

/// Commits events, and waits until they are published: a consumer that starts afterwards receives them
/// together.
async fn publish(effects: &Effects, events: usize) {
    effects.harness.commit_events(events).await;
    eventually("all are published", TIMEOUT, async || {
        effects.harness.unpublished().await == 0
    })
    .await;
}

#[sqlx::test(migrations = false)]
async fn events_that_arrive_together_share_transactions(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let effects = Effects::new(options).await;
    let harness = &effects.harness;
    publish(&effects, 64).await;
    effects.start();
    effects.wait_for(64).await;
    let transactions = "select count(distinct xmin::text) from :schema.effects";
    assert!(harness.count(transactions).await < 64);
    assert_eq!(
        harness.count("select count(*) from :schema.inbox").await,
        64
    );
    assert_no_leftovers(&harness.pool, harness.schema).await;
    harness.drop_stream().await;
}

#[sqlx::test(migrations = false)]
async fn events_that_fail_together_are_applied_one_by_one(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let effects = Effects::new(options).await;
    let harness = &effects.harness;
    publish(&effects, 64).await;
    let handler = effects.start_failing(1, Code::Internal);
    effects.wait_for(64).await;
    assert_eq!(handler.failures_left.load(Ordering::SeqCst), 0);
    let distinct = "select count(distinct event_id) from :schema.effects";
    assert_eq!(harness.count(distinct).await, 64);
    assert_no_leftovers(&harness.pool, harness.schema).await;
    harness.drop_stream().await;
}
