//! What the worker takes, how much at once, and what it leaves behind.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use metrics_exporter_prometheus::PrometheusBuilder;
use platform::{
    saga::{CONCURRENCY, Outcome},
    testing::eventually,
};
use sqlx::PgPool;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{
    Worker, complete, count, create_items, create_tables, execute, insert, item, until_left,
};
use crate::harness::TIMEOUT;

#[sqlx::test(migrations = false)]
async fn one_poll_drains_all_batches_while_one_item_is_slow(pool: PgPool) {
    create_items(&pool, 3 * CONCURRENCY).await;
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
    create_items(&pool, 2 * CONCURRENCY + 1).await;
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
    create_items(&pool, 2 * CONCURRENCY).await;
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
