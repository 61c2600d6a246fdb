//! Events are applied once, transient errors are retried, and failing events are parked.

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
        inbox::{self, Applied, Consumer, Effect, Envelope, Handler},
        jetstream::stream_name,
        replay,
    },
    testing::{assert_no_leftovers, eventually},
};
use prost_types::Timestamp;
use sqlx::{
    PgConnection,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use tokio::sync::Notify;

use crate::harness::{Harness, TIMEOUT};

/// Inserts a row for each event, after a number of failures.
#[derive(Clone)]
struct CountEffects {
    schema: &'static str,
    failures_left: Arc<AtomicU32>,
    code: Code,
}

impl CountEffects {
    fn after(harness: &Harness, failures: u32, code: Code) -> Self {
        Self {
            schema: harness.schema.name(),
            failures_left: Arc::new(AtomicU32::new(failures)),
            code,
        }
    }
}

impl Handler for CountEffects {
    type Body = Timestamp;

    async fn apply_in_tx(
        &self,
        conn: &mut PgConnection,
        envelope: &Envelope,
        body: Timestamp,
    ) -> Result<(), Failure> {
        assert_eq!(body.seconds, envelope.version);
        let sql = format!("insert into {}.effects values ($1)", self.schema);
        sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(envelope.id)
            .execute(conn)
            .await?;
        let fails = |left: u32| left.checked_sub(1);
        match self
            .failures_left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, fails)
        {
            Ok(_) => Err(Failure::new(self.code, "as told")),
            Err(_) => Ok(()),
        }
    }
}

async fn harness_with_effects(options: PgConnectOptions) -> Harness {
    let harness = Harness::new(options).await;
    harness
        .execute("create table :schema.effects (event_id uuid)")
        .await;
    harness.start_relay();
    harness
}

fn consumer(harness: &Harness) -> Consumer {
    let mut consumer = Consumer::new("counting-svc", harness.schema, harness.schema, "ThingDone");
    consumer.first_delay = Duration::from_millis(2);
    consumer.max_delay = Duration::from_millis(20);
    consumer
}

fn start(harness: &Harness, handler: impl Handler) {
    let (js, pool) = (harness.js.clone(), harness.pool.clone());
    tokio::spawn(inbox::run(
        consumer(harness),
        js,
        pool,
        handler,
        harness.token.clone(),
    ));
}

async fn effects(harness: &Harness) -> i64 {
    harness.count("select count(*) from :schema.effects").await
}

#[sqlx::test(migrations = false)]
async fn a_redelivered_event_is_applied_once(_: PgPoolOptions, options: PgConnectOptions) {
    let harness = harness_with_effects(options).await;
    start(&harness, CountEffects::after(&harness, 0, Code::Internal));
    harness.commit_event().await;
    harness.commit_event().await;
    eventually("two effects", TIMEOUT, async || {
        effects(&harness).await == 2
    })
    .await;
    for _ in 0..3 {
        replay(
            &harness.pool,
            harness.schema,
            &harness.js,
            chrono::DateTime::UNIX_EPOCH,
        )
        .await
        .unwrap();
    }
    // All eight are handled when the ninth is.
    harness.commit_event().await;
    eventually("the third effect", TIMEOUT, async || {
        effects(&harness).await == 3
    })
    .await;
    eventually("all acknowledged", TIMEOUT, async || {
        let stream = harness
            .js
            .get_stream(stream_name(harness.schema))
            .await
            .unwrap();
        let info = stream
            .consumer_info("counting-svc-ThingDone")
            .await
            .unwrap();
        info.ack_floor.stream_sequence == 9
    })
    .await;
    assert_eq!(effects(&harness).await, 3);
    assert_eq!(harness.count("select count(*) from :schema.inbox").await, 3);
    assert_no_leftovers(&harness.pool, harness.schema).await;
    harness.drop_stream().await;
}

#[sqlx::test(migrations = false)]
async fn transient_errors_are_retried_without_counting(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let harness = harness_with_effects(options).await;
    let handler = CountEffects::after(&harness, 15, Code::Unavailable);
    let failures_left = Arc::clone(&handler.failures_left);
    start(&harness, handler);
    harness.commit_event().await;
    eventually("one effect", TIMEOUT * 3, async || {
        effects(&harness).await == 1
    })
    .await;
    assert_eq!(failures_left.load(Ordering::SeqCst), 0);
    assert_no_leftovers(&harness.pool, harness.schema).await;
    harness.drop_stream().await;
}

#[sqlx::test(migrations = false)]
async fn an_event_is_parked_after_ten_failures_until_it_is_retried(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let harness = harness_with_effects(options).await;
    let handler = CountEffects::after(&harness, 10, Code::ValidationFailed);
    start(&harness, handler);
    let id = harness.commit_event().await;
    let parked = async || {
        dead_letters::list(&harness.pool, harness.schema)
            .await
            .unwrap()
    };
    eventually("it is parked", TIMEOUT, async || !parked().await.is_empty()).await;
    let dead_letter = parked().await.remove(0);
    assert_eq!(dead_letter.event_id, id);
    assert_eq!(dead_letter.failures, 10);
    assert_eq!(dead_letter.consumer, "counting-svc-ThingDone");
    assert_eq!(dead_letter.reason, "validation_failed: as told");
    assert_eq!(effects(&harness).await, 0);
    harness.commit_event().await;
    eventually("others go on", TIMEOUT, async || {
        effects(&harness).await == 1
    })
    .await;

    let retry = async |id| {
        dead_letters::retry(&harness.pool, harness.schema, &harness.js, id)
            .await
            .unwrap()
    };
    assert_eq!(retry(Some(crate::harness::uuid())).await, 0);
    // Headers of an event that was published in a batch.
    let batched = "update :schema.dead_letters set headers = headers
         || '{\"Nats-Batch-Id\": \"a\", \"Nats-Batch-Sequence\": \"2\"}'";
    harness.execute(batched).await;
    assert_eq!(retry(None).await, 1);
    eventually("it is applied", TIMEOUT, async || {
        effects(&harness).await == 2
    })
    .await;
    assert_no_leftovers(&harness.pool, harness.schema).await;
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
    let harness = harness_with_effects(options).await;
    let mut consumer = consumer(&harness);
    consumer.effect_timeout = Duration::from_millis(250);
    consumer.max_failures = 2;
    let third = Arc::new(Notify::new());
    let effect = HangThenPanic {
        seen: AtomicU32::new(0),
        third: Arc::clone(&third),
    };
    let (js, pool, token) = (
        harness.js.clone(),
        harness.pool.clone(),
        harness.token.clone(),
    );
    tokio::spawn(inbox::run_effect(consumer, js, pool, effect, token));

    let aggregate = crate::harness::uuid();
    harness
        .commit((1..=3).map(|version| harness.event(aggregate, version).message))
        .await;

    tokio::time::timeout(TIMEOUT, third.notified())
        .await
        .unwrap();
    let parked = async || {
        dead_letters::list(&harness.pool, harness.schema)
            .await
            .unwrap()
    };
    eventually("both are parked", TIMEOUT, async || {
        parked().await.len() == 2
    })
    .await;
    let mut reasons: Vec<String> = parked()
        .await
        .into_iter()
        .map(|dead_letter| dead_letter.reason)
        .collect();
    reasons.sort();
    assert_eq!(reasons, ["the handler panicked", "timed out after 250ms"]);
    harness.drop_stream().await;
}

#[sqlx::test(migrations = false)]
async fn malformed_events_are_parked_immediately(_: PgPoolOptions, options: PgConnectOptions) {
    let harness = harness_with_effects(options).await;
    start(&harness, CountEffects::after(&harness, 0, Code::Internal));
    harness.commit_event().await;
    eventually("one effect", TIMEOUT, async || effects(&harness).await == 1).await;
    let subject = format!("guerdon.{}.v1.ThingDone", harness.schema.name());
    // A message without headers, and one whose body is malformed.
    harness
        .js
        .publish(subject.clone(), "{".into())
        .await
        .unwrap()
        .await
        .unwrap();
    let mut headers = harness.stream(1).await[0].headers.clone().unwrap();
    headers.insert("ce-id", crate::harness::uuid().to_string());
    headers.insert("Nats-Msg-Id", "malformed");
    let sent = harness
        .js
        .publish_with_headers(subject, headers, "{".into())
        .await
        .unwrap();
    sent.await.unwrap();
    let parked = async || {
        dead_letters::list(&harness.pool, harness.schema)
            .await
            .unwrap()
    };
    eventually("both are parked", TIMEOUT, async || {
        parked().await.len() == 2
    })
    .await;
    let reasons: Vec<String> = parked()
        .await
        .into_iter()
        .map(|dead_letter| dead_letter.reason)
        .collect();
    assert!(reasons.contains(&"no headers".to_owned()), "{reasons:?}");
    assert!(
        reasons
            .iter()
            .any(|reason| reason.starts_with("the body cannot be decoded"))
    );
    harness.commit_event().await;
    eventually("others go on", TIMEOUT, async || {
        effects(&harness).await == 2
    })
    .await;
    harness.drop_stream().await;
}

#[sqlx::test(migrations = false)]
async fn a_missing_consumer_and_stream_are_created_again(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let harness = harness_with_effects(options).await;
    start(&harness, CountEffects::after(&harness, 0, Code::Internal));
    harness.commit_event().await;
    eventually("one effect", TIMEOUT, async || effects(&harness).await == 1).await;
    let stream = harness
        .js
        .get_stream(stream_name(harness.schema))
        .await
        .unwrap();
    stream
        .delete_consumer("counting-svc-ThingDone")
        .await
        .unwrap();
    harness.commit_event().await;
    eventually("two effects", TIMEOUT, async || {
        effects(&harness).await == 2
    })
    .await;
    harness.drop_stream().await;
    harness.commit_event().await;
    eventually("three effects", TIMEOUT, async || {
        effects(&harness).await == 3
    })
    .await;
    harness.drop_stream().await;
}
