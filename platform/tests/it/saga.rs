//! The saga worker: what it takes, how it retries, and what it leaves behind.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use chrono::TimeDelta;
use metrics_exporter_prometheus::PrometheusBuilder;
use platform::{
    clock::Clock,
    pg::Schema,
    saga::{self, CONCURRENCY, Outcome, Saga, Table},
    testing::{eventually, messaging_tables},
};
use sqlx::{AssertSqlSafe, PgPool};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::harness::TIMEOUT;

const SCHEMA: Schema = Schema::new("things");
const TABLE: Table = Table {
    schema: SCHEMA,
    name: "items",
    key: "item_id",
};

/// A saga whose attempts are a function of the test.
struct Scripted<F>(F);

impl<F, Fut> Saga for Scripted<F>
where
    F: Fn(Uuid) -> Fut + Send + Sync,
    Fut: Future<Output = Outcome> + Send,
{
    const NAME: &'static str = "test-items";
    const TABLE: Table = TABLE;

    async fn resume(&self, id: Uuid) -> Outcome {
        (self.0)(id).await
    }
}

/// A worker that runs until it is stopped.
struct Worker {
    stop: CancellationToken,
    ended: JoinHandle<Result<(), sqlx::Error>>,
}

impl Worker {
    fn start<F, Fut>(pool: &PgPool, attempt: F) -> Self
    where
        F: Fn(Uuid) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Outcome> + Send + 'static,
    {
        let stop = CancellationToken::new();
        let ended = tokio::spawn(saga::run(Scripted(attempt), pool.clone(), stop.clone()));
        Self { stop, ended }
    }

    async fn stop(self) {
        self.stop.cancel();
        self.ended.await.unwrap().unwrap();
    }
}

#[derive(Debug, sqlx::FromRow)]
struct Item {
    attempts: i32,
    last_error: Option<String>,
    /// Seconds until it is due; negative if it is.
    due_in: f64,
}

async fn execute(pool: &PgPool, sql: impl Into<String>) {
    sqlx::raw_sql(AssertSqlSafe(sql.into()))
        .execute(pool)
        .await
        .unwrap();
}

async fn create_tables(pool: &PgPool) {
    let messaging = messaging_tables(SCHEMA);
    let items = "create table things.items (
                     item_id uuid primary key,
                     due_at timestamptz(3) not null default now(),
                     attempts integer not null default 0,
                     last_error text,
                     created_at timestamptz(3) not null default now())";
    execute(pool, format!("create schema things; {messaging} {items}")).await;
}

/// Inserts so many items that are due.
async fn insert(pool: &PgPool, count: usize) {
    let sql = format!(
        "insert into things.items (item_id) select gen_random_uuid() from generate_series(1, {count})"
    );
    execute(pool, sql).await;
}

/// The only item.
async fn item(pool: &PgPool) -> Item {
    let sql = "select attempts, last_error, extract(epoch from due_at - now())::float8 as due_in
               from things.items";
    sqlx::query_as(sql).fetch_one(pool).await.unwrap()
}

async fn count(pool: &PgPool, condition: &str) -> usize {
    let sql = format!("select count(*) from things.items where {condition}");
    let count: i64 = sqlx::query_scalar(AssertSqlSafe(sql))
        .fetch_one(pool)
        .await
        .unwrap();
    count.try_into().unwrap()
}

async fn until_left(pool: &PgPool, items: usize) {
    let what = format!("{items} items are left");
    eventually(&what, TIMEOUT, async || count(pool, "true").await == items).await;
}

/// Ends an item as a service does.
async fn complete(pool: &PgPool, id: Uuid) -> Outcome {
    sqlx::query("delete from things.items where item_id = $1")
        .bind(id)
        .execute(pool)
        .await
        .unwrap();
    Outcome::Completed
}

/// Runs a worker for one attempt with this outcome: the attempt itself stops the worker.
async fn attempt_once(pool: &PgPool, outcome: fn() -> Outcome) {
    let stop = CancellationToken::new();
    let stopping = stop.clone();
    let attempt = move |_| {
        stopping.cancel();
        async move { outcome() }
    };
    saga::run(Scripted(attempt), pool.clone(), stop)
        .await
        .unwrap();
}

#[sqlx::test(migrations = false)]
async fn one_poll_drains_all_batches_while_one_item_is_slow(pool: PgPool) {
    create_tables(&pool).await;
    insert(&pool, 3 * CONCURRENCY).await;
    let (release, begun) = (CancellationToken::new(), Arc::new(AtomicUsize::new(0)));
    let worker = Worker::start(&pool, {
        let (pool, release) = (pool.clone(), release.clone());
        move |id| {
            let is_first = begun.fetch_add(1, SeqCst) == 0;
            let (pool, release) = (pool.clone(), release.clone());
            async move {
                if is_first {
                    release.cancelled().await;
                }
                complete(&pool, id).await
            }
        }
    });
    // The poll has not ended, as its first item has not.
    until_left(&pool, 1).await;
    release.cancel();
    until_left(&pool, 0).await;
    worker.stop().await;
}

#[sqlx::test(migrations = false)]
async fn concurrent_attempts_are_bounded(pool: PgPool) {
    create_tables(&pool).await;
    insert(&pool, 2 * CONCURRENCY + 1).await;
    let release = CancellationToken::new();
    let (running, peak) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let worker = Worker::start(&pool, {
        let (pool, release) = (pool.clone(), release.clone());
        let (running, peak) = (Arc::clone(&running), Arc::clone(&peak));
        move |id| {
            let (pool, release) = (pool.clone(), release.clone());
            let running = Arc::clone(&running);
            peak.fetch_max(running.fetch_add(1, SeqCst) + 1, SeqCst);
            async move {
                release.cancelled().await;
                running.fetch_sub(1, SeqCst);
                complete(&pool, id).await
            }
        }
    });
    eventually("all places are taken", TIMEOUT, async || {
        running.load(SeqCst) == CONCURRENCY
    })
    .await;
    assert_eq!(count(&pool, "attempts > 0").await, CONCURRENCY);
    release.cancel();
    until_left(&pool, 0).await;
    assert_eq!(peak.load(SeqCst), CONCURRENCY);
    worker.stop().await;
}

#[sqlx::test(migrations = false)]
async fn failures_are_retried_with_growing_delays(pool: PgPool) {
    create_tables(&pool).await;
    insert(&pool, 1).await;
    for (attempts, delay) in [(3, 4.0), (4, 8.0), (5, 16.0), (6, 30.0), (100, 30.0)] {
        let before = attempts - 1;
        let due = format!("update things.items set due_at = now(), attempts = {before}");
        execute(&pool, due).await;
        attempt_once(&pool, || Outcome::Failed("no route".into())).await;
        let item = item(&pool).await;
        assert_eq!(item.attempts, attempts);
        assert_eq!(item.last_error.as_deref(), Some("no route"));
        // Less what has passed since.
        assert!(
            item.due_in > delay / 2.0 && item.due_in <= delay,
            "{item:?}"
        );
    }
}

#[sqlx::test(migrations = false)]
async fn an_unknown_outcome_is_due_again_immediately(pool: PgPool) {
    create_tables(&pool).await;
    insert(&pool, 1).await;
    attempt_once(&pool, || Outcome::Unknown("response lost".into())).await;
    let unknown = item(&pool).await;
    assert!(unknown.due_in <= 0.0, "{unknown:?}");
    assert_eq!(unknown.attempts, 1);
    assert_eq!(unknown.last_error.as_deref(), Some("response lost"));

    attempt_once(&pool, || Outcome::Unknown("response lost".into())).await;
    let again = item(&pool).await;
    assert!(again.due_in > 0.0, "then with backoff: {again:?}");
}

#[sqlx::test(migrations = false)]
async fn an_undecided_item_is_due_when_it_is_decided(pool: PgPool) {
    fn undecided(seconds: i64) -> Outcome {
        Outcome::Undecided {
            error: "refused".into(),
            until: Clock::system().now() + TimeDelta::seconds(seconds),
        }
    }
    create_tables(&pool).await;
    insert(&pool, 1).await;
    attempt_once(&pool, || undecided(60)).await;
    let later = item(&pool).await;
    assert!(later.due_in > 30.0 && later.due_in <= 60.0, "{later:?}");
    assert_eq!(later.last_error.as_deref(), Some("refused"));

    execute(&pool, "update things.items set due_at = now()").await;
    attempt_once(&pool, || undecided(-60)).await;
    let soon = item(&pool).await;
    assert!(soon.due_in > 0.0 && soon.due_in <= 1.0, "{soon:?}");
}

#[sqlx::test(migrations = false)]
async fn a_request_gives_back_only_an_item_that_no_worker_has(pool: PgPool) {
    create_tables(&pool).await;
    let id = Uuid::nil();
    let held = format!(
        "insert into things.items (item_id, due_at) values ('{id}', now() + interval '10 seconds')"
    );
    execute(&pool, held).await;
    let lost = std::io::Error::other("response lost");
    TABLE.retry_now(&pool, id, &lost).await.unwrap();
    let given_back = item(&pool).await;
    assert!(given_back.due_in <= 0.0, "{given_back:?}");
    assert_eq!(given_back.last_error.as_deref(), Some("response lost"));

    attempt_once(&pool, || Outcome::Failed("no route".into())).await;
    TABLE.retry_now(&pool, id, &lost).await.unwrap();
    let item = item(&pool).await;
    assert_eq!(item.last_error.as_deref(), Some("no route"));
}

#[sqlx::test(migrations = false)]
async fn an_item_that_panics_blocks_no_other(pool: PgPool) {
    create_tables(&pool).await;
    let poison = Uuid::nil();
    execute(
        &pool,
        format!("insert into things.items (item_id) values ('{poison}')"),
    )
    .await;
    insert(&pool, CONCURRENCY).await;
    let worker = Worker::start(&pool, {
        let pool = pool.clone();
        move |id| {
            let pool = pool.clone();
            async move {
                assert_ne!(id, poison, "as the test wants");
                complete(&pool, id).await
            }
        }
    });
    until_left(&pool, 1).await;
    insert(&pool, 1).await;
    until_left(&pool, 1).await;
    worker.stop().await;
    let left = item(&pool).await;
    assert_eq!(left.last_error.as_deref(), Some("the attempt panicked"));
}

#[sqlx::test(migrations = false)]
async fn a_stopping_worker_finishes_what_it_began_and_gives_back_the_rest(pool: PgPool) {
    create_tables(&pool).await;
    insert(&pool, 2 * CONCURRENCY).await;
    let (release, begun) = (CancellationToken::new(), Arc::new(AtomicUsize::new(0)));
    let worker = Worker::start(&pool, {
        let (pool, release, begun) = (pool.clone(), release.clone(), Arc::clone(&begun));
        move |id| {
            let is_first = begun.fetch_add(1, SeqCst) == 0;
            let (pool, release) = (pool.clone(), release.clone());
            async move {
                if !is_first {
                    release.cancelled().await;
                }
                complete(&pool, id).await
            }
        }
    });
    eventually("the second batch is begun", TIMEOUT, async || {
        begun.load(SeqCst) == CONCURRENCY + 1
    })
    .await;
    worker.stop.cancel();
    release.cancel();
    worker.stop().await;
    let left = "attempts = 0 and due_at <= now()";
    assert_eq!(count(&pool, left).await, CONCURRENCY - 1);
    assert_eq!(count(&pool, "true").await, CONCURRENCY - 1);
    let leases: i64 = sqlx::query_scalar("select count(*) from things.leases")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(leases, 0, "the lease is released");
}

#[sqlx::test(migrations = false)]
async fn metrics_show_the_backlog_and_count_outcomes(pool: PgPool) {
    create_tables(&pool).await;
    execute(
        &pool,
        "insert into things.items (item_id, due_at, created_at)
         select gen_random_uuid(), now() + interval '1 day', now() - interval '1 hour'
         from generate_series(1, 3)",
    )
    .await;
    let recorder = PrometheusBuilder::new().build_recorder();
    let metrics = recorder.handle();
    // The runtime of a sqlx test has this one thread.
    let _guard = metrics::set_default_local_recorder(&recorder);
    let worker = Worker::start(&pool, |_| async { Outcome::Completed });
    let shown = |series: &str| -> Option<f64> {
        let text = metrics.render();
        let value = text.lines().find_map(|line| line.strip_prefix(series));
        value?.trim().parse().ok()
    };
    let gauge = |name: &str| shown(&format!("{name}{{saga=\"test-items\"}}"));
    eventually("the backlog is shown", TIMEOUT, async || {
        gauge("saga_items").is_some_and(|items| (items - 3.0).abs() < f64::EPSILON)
    })
    .await;
    assert!(gauge("saga_oldest_seconds").unwrap() >= 3_600.0);

    execute(&pool, "update things.items set due_at = now()").await;
    eventually("three attempts are counted", TIMEOUT, async || {
        let completed = shown("saga_attempts_total{saga=\"test-items\",outcome=\"completed\"}");
        completed.is_some_and(|attempts| attempts > 2.5)
    })
    .await;
    worker.stop().await;
}
