//! Effects happen once, trouble is waited out, and what cannot succeed is put aside.

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

use crate::bed::{Bed, SOON};

/// Counts the effects of each event in a table, after as many failures as it is told.
#[derive(Clone)]
struct Count {
    schema: &'static str,
    failing: Arc<AtomicU32>,
    with: Code,
}

impl Count {
    fn after(bed: &Bed, failures: u32, with: Code) -> Self {
        let failing = Arc::new(AtomicU32::new(failures));
        Self {
            schema: bed.schema.name(),
            failing,
            with,
        }
    }
}

impl Handler for Count {
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
            .failing
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, fails)
        {
            Ok(_) => Err(Failure::new(self.with, "as told")),
            Err(_) => Ok(()),
        }
    }
}

async fn bed(options: PgConnectOptions) -> Bed {
    let bed = Bed::new(options).await;
    bed.execute("create table :schema.effects (event_id uuid)")
        .await;
    bed.start_relay();
    bed
}

fn consumer(bed: &Bed) -> Consumer {
    let mut consumer = Consumer::new("counting-svc", bed.schema, bed.schema, "ThingDone");
    consumer.first_delay = Duration::from_millis(2);
    consumer.longest_delay = Duration::from_millis(20);
    consumer
}

fn start(bed: &Bed, handler: impl Handler) {
    let (js, pool) = (bed.js.clone(), bed.pool.clone());
    tokio::spawn(inbox::run(
        consumer(bed),
        js,
        pool,
        handler,
        bed.token.clone(),
    ));
}

async fn effects(bed: &Bed) -> i64 {
    bed.count("select count(*) from :schema.effects").await
}

#[sqlx::test(migrations = false)]
async fn a_redelivered_event_has_one_effect(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = bed(options).await;
    start(&bed, Count::after(&bed, 0, Code::Internal));
    bed.commit_event().await;
    bed.commit_event().await;
    eventually("two effects", SOON, async || effects(&bed).await == 2).await;
    for _ in 0..3 {
        replay(&bed.pool, bed.schema, &bed.js, chrono::DateTime::UNIX_EPOCH)
            .await
            .unwrap();
    }
    // All eight are handled once a ninth, which comes after them, is.
    bed.commit_event().await;
    eventually("the third effect", SOON, async || effects(&bed).await == 3).await;
    eventually("all acknowledged", SOON, async || {
        let stream = bed.js.get_stream(stream_name(bed.schema)).await.unwrap();
        let info = stream
            .consumer_info("counting-svc-ThingDone")
            .await
            .unwrap();
        info.ack_floor.stream_sequence == 9
    })
    .await;
    assert_eq!(effects(&bed).await, 3);
    assert_eq!(bed.count("select count(*) from :schema.inbox").await, 3);
    assert_no_leftovers(&bed.pool, bed.schema).await;
    bed.drop_stream().await;
}

#[sqlx::test(migrations = false)]
async fn trouble_that_passes_uses_up_no_tries(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = bed(options).await;
    let handler = Count::after(&bed, 15, Code::Unavailable);
    let failing = Arc::clone(&handler.failing);
    start(&bed, handler);
    bed.commit_event().await;
    eventually("one effect", SOON * 3, async || effects(&bed).await == 1).await;
    assert_eq!(failing.load(Ordering::SeqCst), 0);
    assert_no_leftovers(&bed.pool, bed.schema).await;
    bed.drop_stream().await;
}

#[sqlx::test(migrations = false)]
async fn ten_failures_park_an_event_until_it_is_retried(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let bed = bed(options).await;
    let handler = Count::after(&bed, 10, Code::ValidationFailed);
    start(&bed, handler);
    let id = bed.commit_event().await;
    let parked = async || dead_letters::list(&bed.pool, bed.schema).await.unwrap();
    eventually("it is parked", SOON, async || !parked().await.is_empty()).await;
    let letter = parked().await.remove(0);
    assert_eq!((letter.event_id, letter.failures), (id, 10));
    assert_eq!(letter.consumer, "counting-svc-ThingDone");
    assert_eq!(letter.reason, "validation_failed: as told");
    assert_eq!(effects(&bed).await, 0);
    bed.commit_event().await;
    eventually("others go on", SOON, async || effects(&bed).await == 1).await;

    let retry = async |id| {
        dead_letters::retry(&bed.pool, bed.schema, &bed.js, id)
            .await
            .unwrap()
    };
    assert_eq!(retry(Some(crate::bed::uuid())).await, 0);
    // What an event has that came in a batch.
    let batched = "update :schema.dead_letters set headers = headers
         || '{\"Nats-Batch-Id\": \"a\", \"Nats-Batch-Sequence\": \"2\"}'";
    bed.execute(batched).await;
    assert_eq!(retry(None).await, 1);
    eventually("it had its effect", SOON, async || effects(&bed).await == 2).await;
    assert_no_leftovers(&bed.pool, bed.schema).await;
    bed.drop_stream().await;
}

/// Never answers the first event it sees, and panics on the second.
struct Stuck {
    seen: AtomicU32,
    third: Arc<Notify>,
}

impl Effect for Stuck {
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
async fn a_handler_that_never_answers_parks_its_event_only(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let bed = bed(options).await;
    let mut consumer = consumer(&bed);
    consumer.effect_within = Duration::from_millis(250);
    consumer.max_failures = 2;
    let third = Arc::new(Notify::new());
    let effect = Stuck {
        seen: AtomicU32::new(0),
        third: Arc::clone(&third),
    };
    let (js, pool, token) = (bed.js.clone(), bed.pool.clone(), bed.token.clone());
    tokio::spawn(inbox::run_effect(consumer, js, pool, effect, token));

    let aggregate = crate::bed::uuid();
    let messages: Vec<_> = (1..=3)
        .map(|version| bed.message(aggregate, version).1)
        .collect();
    bed.commit(&messages).await;

    tokio::time::timeout(SOON, third.notified()).await.unwrap();
    let parked = async || dead_letters::list(&bed.pool, bed.schema).await.unwrap();
    eventually("both are parked", SOON, async || parked().await.len() == 2).await;
    let mut reasons: Vec<String> = parked()
        .await
        .into_iter()
        .map(|letter| letter.reason)
        .collect();
    reasons.sort();
    assert_eq!(reasons, ["no answer within 250ms", "the handler panicked"]);
    bed.drop_stream().await;
}

#[sqlx::test(migrations = false)]
async fn poison_is_parked_at_once(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = bed(options).await;
    start(&bed, Count::after(&bed, 0, Code::Internal));
    bed.commit_event().await;
    eventually("one effect", SOON, async || effects(&bed).await == 1).await;
    let subject = format!("guerdon.{}.v1.ThingDone", bed.schema.name());
    // No headers; and headers with a body that is no protobuf.
    bed.js
        .publish(subject.clone(), "{".into())
        .await
        .unwrap()
        .await
        .unwrap();
    let mut headers = bed.stream(1).await[0].headers.clone().unwrap();
    headers.insert("ce-id", crate::bed::uuid().to_string());
    headers.insert("Nats-Msg-Id", "poison");
    let sent = bed
        .js
        .publish_with_headers(subject, headers, "{".into())
        .await
        .unwrap();
    sent.await.unwrap();
    let parked = async || dead_letters::list(&bed.pool, bed.schema).await.unwrap();
    eventually("both are parked", SOON, async || parked().await.len() == 2).await;
    let reasons: Vec<String> = parked()
        .await
        .into_iter()
        .map(|letter| letter.reason)
        .collect();
    assert!(reasons.contains(&"no headers".to_owned()), "{reasons:?}");
    assert!(
        reasons
            .iter()
            .any(|reason| reason.starts_with("the body cannot be read"))
    );
    bed.commit_event().await;
    eventually("others go on", SOON, async || effects(&bed).await == 2).await;
    bed.drop_stream().await;
}

#[sqlx::test(migrations = false)]
async fn a_missing_consumer_and_stream_are_made_again(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = bed(options).await;
    start(&bed, Count::after(&bed, 0, Code::Internal));
    bed.commit_event().await;
    eventually("one effect", SOON, async || effects(&bed).await == 1).await;
    let stream = bed.js.get_stream(stream_name(bed.schema)).await.unwrap();
    stream
        .delete_consumer("counting-svc-ThingDone")
        .await
        .unwrap();
    bed.commit_event().await;
    eventually("two effects", SOON, async || effects(&bed).await == 2).await;
    bed.drop_stream().await;
    bed.commit_event().await;
    eventually("three effects", SOON, async || effects(&bed).await == 3).await;
    bed.drop_stream().await;
}
