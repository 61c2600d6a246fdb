//! Events that a consumer fails to apply are parked, and the consumer goes on.

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use platform::{
    error::{Code, Failure},
    messaging::{
        dead_letters,
        inbox::{self, Applied, Effect, Envelope},
    },
    testing::{assert_no_leftovers, eventually},
};
use prost_types::Timestamp;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use tokio::{sync::Notify, time::timeout};
use uuid::Uuid;

use crate::{
    effects::Effects,
    harness::{Harness, TIMEOUT, uuid},
};

async fn retry(harness: &Harness, event_id: Option<Uuid>) -> u64 {
    dead_letters::retry(&harness.pool, harness.schema, &harness.js, event_id)
        .await
        .unwrap()
}

#[sqlx::test(migrations = false)]
async fn an_event_is_parked_after_ten_failures_until_it_is_retried(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let effects = Effects::new(options).await;
    let harness = &effects.harness;
    effects.start_failing(10, Code::ValidationFailed);
    let id = harness.commit_event().await;
    let dead_letter = effects.wait_for_parked(1).await.remove(0);
    assert_eq!(dead_letter.event_id, id);
    assert_eq!(dead_letter.failures, 10);
    assert_eq!(dead_letter.consumer, "counting-svc-ThingDone");
    assert_eq!(dead_letter.reason, "validation_failed: as told");
    assert_eq!(effects.count().await, 0);
    harness.commit_event().await;
    effects.wait_for(1).await;

    assert_eq!(retry(harness, Some(uuid())).await, 0);
    // Headers of an event that was published in a batch.
    let batched = "update :schema.dead_letters set headers = headers
         || '{\"Nats-Batch-Id\": \"a\", \"Nats-Batch-Sequence\": \"2\"}'";
    harness.execute(batched).await;
    assert_eq!(retry(harness, None).await, 1);
    effects.wait_for(2).await;
    assert_no_leftovers(&harness.pool, harness.schema).await;
    harness.drop_stream().await;
}

#[sqlx::test(migrations = false)]
async fn a_discarded_event_is_never_applied(_: PgPoolOptions, options: PgConnectOptions) {
    let effects = Effects::new(options).await;
    let harness = &effects.harness;
    let discard = async |id| {
        dead_letters::discard(&harness.pool, harness.schema, id)
            .await
            .unwrap()
    };
    effects.start_failing(10, Code::ValidationFailed);
    let id = harness.commit_event().await;
    effects.wait_for_parked(1).await;

    assert_eq!(discard(uuid()).await, [], "an event that is not parked");
    let discarded = discard(id).await;
    assert_eq!(discarded.len(), 1);
    assert_eq!(discarded[0].event_id, id);
    assert_eq!(discard(id).await, [], "once");
    assert_eq!(retry(harness, None).await, 0);
    harness.commit_event().await;
    effects.wait_for(1).await;
    assert_no_leftovers(&harness.pool, harness.schema).await;
    harness.drop_stream().await;
}

#[sqlx::test(migrations = false)]
async fn a_retry_is_for_the_consumer_that_failed(_: PgPoolOptions, options: PgConnectOptions) {
    let effects = Effects::new(options).await;
    let harness = &effects.harness;
    effects.start_failing(10, Code::ValidationFailed);
    harness.commit_event().await;
    effects.wait_for_parked(1).await;
    // Another consumer failed, and this one has forgotten that it applied the event.
    harness
        .execute(
            "insert into :schema.dead_letters
             select 'other-svc-ThingDone', event_id, subject, headers, body, reason, failures
             from :schema.dead_letters;
             update :schema.dead_letters set parked_at = now() where consumer like 'other-%';
             delete from :schema.dead_letters where consumer like 'counting-%'",
        )
        .await;
    assert_eq!(retry(harness, None).await, 1);
    harness.commit_event().await;
    effects.wait_for(1).await;
    eventually("all is acknowledged", TIMEOUT, async || {
        let info = harness.consumer_info(effects.consumer().name()).await;
        info.is_some_and(|info| info.num_pending == 0 && info.num_ack_pending == 0)
    })
    .await;
    assert_eq!(effects.count().await, 1);
    harness.drop_stream().await;
}

/// Hangs on the first event and panics on the second.
struct HangThenPanic {
    seen: AtomicU32,
    third: Arc<Notify>,
}

impl Effect for HangThenPanic {
    type Body = Timestamp;

    async fn apply(&self, envelope: &Envelope, _: Timestamp) -> Result<Applied, Failure> {
        match envelope.version {
            1 => pending().await,
            2 => panic!("as told"),
            _ => {
                self.seen.fetch_add(1, Ordering::SeqCst);
                self.third.notify_one();
                Ok(Applied::Now)
            }
        }
    }
}

#[sqlx::test(migrations = false)]
async fn an_effect_that_hangs_or_panics_parks_its_event_only(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let effects = Effects::new(options).await;
    let harness = &effects.harness;
    let mut consumer = effects.consumer();
    consumer.effect_timeout = Duration::from_millis(250);
    consumer.max_failures = 2;
    let third = Arc::new(Notify::new());
    let effect = HangThenPanic {
        seen: AtomicU32::new(0),
        third: Arc::clone(&third),
    };
    let (js, pool) = (harness.js.clone(), harness.pool.clone());
    let consumed = inbox::run_effect(consumer, js, pool, effect, harness.token.clone());
    tokio::spawn(consumed);

    let aggregate = uuid();
    harness
        .commit((1..=3).map(|version| harness.event(aggregate, version).message))
        .await;
    timeout(TIMEOUT, third.notified()).await.unwrap();
    let parked = effects.wait_for_parked(2).await;
    let mut reasons: Vec<&str> = parked.iter().map(|parked| &*parked.reason).collect();
    reasons.sort_unstable();
    assert_eq!(reasons, ["the handler panicked", "timed out after 250ms"]);
    harness.drop_stream().await;
}

#[sqlx::test(migrations = false)]
async fn malformed_events_are_parked_immediately(_: PgPoolOptions, options: PgConnectOptions) {
    let effects = Effects::new(options).await;
    let harness = &effects.harness;
    effects.start();
    harness.commit_event().await;
    effects.wait_for(1).await;
    let subject = format!("guerdon.{}.v1.ThingDone", harness.schema.name());
    // A message without headers, and one whose body is malformed.
    let sent = harness.js.publish(subject.clone(), "{".into()).await;
    sent.unwrap().await.unwrap();
    let mut headers = harness.stream(1).await[0].headers.clone().unwrap();
    headers.insert("ce-id", uuid().to_string());
    headers.insert("Nats-Msg-Id", "malformed");
    let sent = harness
        .js
        .publish_with_headers(subject, headers, "{".into())
        .await;
    sent.unwrap().await.unwrap();

    let parked = effects.wait_for_parked(2).await;
    let has_reason = |reason: &str| {
        parked
            .iter()
            .any(|parked| parked.reason.starts_with(reason))
    };
    assert!(has_reason("no headers"), "{parked:?}");
    assert!(has_reason("the body cannot be decoded"), "{parked:?}");
    harness.commit_event().await;
    effects.wait_for(2).await;
    harness.drop_stream().await;
}
