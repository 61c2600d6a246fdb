//! Lists that are cut off before all rows are counted. A lock keeps their statements from ending.

use sqlx::{
    ConnectOptions as _, Postgres, Transaction,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use tokio::{task::JoinHandle, time::timeout};

use super::*;
use crate::pg;

async fn lock(pool: &PgPool) -> Transaction<'static, Postgres> {
    let mut lock = pg::tx(pool).await.unwrap();
    let sql = "lock table things in access exclusive mode";
    sqlx::query(sql).execute(&mut *lock).await.unwrap();
    lock
}

fn fetch(pool: &PgPool, totals: &Totals) -> JoinHandle<Result<Page<(Uuid,)>, Failure>> {
    let (pool, list) = (pool.clone(), kept(totals));
    tokio::spawn(async move {
        let mut conn = pool.acquire().await.unwrap();
        let request = query::parse("page[size]=1").unwrap();
        list.fetch(&mut conn, &request).await
    })
}

/// Waits until a count has begun, and waits for the lock.
async fn count_begun(pool: &PgPool) {
    eventually("a count waits", DEADLINE, async || {
        let sql = "select exists (
            select from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'
                and query like 'select count(*) from things t where%')";
        sqlx::query_scalar(sql).fetch_one(pool).await.unwrap()
    })
    .await;
}

fn with(pool: &PgPool, limits: Limits) -> Totals {
    Totals::with_limits(pool.clone(), limits)
}

#[sqlx::test(migrations = false)]
async fn a_list_that_is_cut_off_waits_for_the_count(pool: PgPool) {
    fill(&pool).await;
    let wait = DEADLINE;
    let totals = with(&pool, Limits { wait, ..FEW });
    let lock = lock(&pool).await;
    let lists = [fetch(&pool, &totals), fetch(&pool, &totals)];
    count_begun(&pool).await;
    lock.rollback().await.unwrap();
    for list in lists {
        assert_eq!(list.await.unwrap().unwrap().total, 100);
    }
    let known = known(&kept(&totals), "");
    assert_eq!(known.map(|known| known.rows), Some(100));
}

#[sqlx::test(migrations = false)]
async fn a_count_goes_on_if_its_caller_goes_away(pool: PgPool) {
    fill(&pool).await;
    let totals = with(&pool, FEW);
    let lock = lock(&pool).await;
    let list = fetch(&pool, &totals);
    count_begun(&pool).await;
    list.abort();
    assert!(list.await.unwrap_err().is_cancelled());
    lock.rollback().await.unwrap();
    totals.idle().await;
    let known = known(&kept(&totals), "");
    assert_eq!(known.map(|known| known.rows), Some(100));
    assert_eq!(fetch(&pool, &totals).await.unwrap().unwrap().total, 100);
}

#[sqlx::test(migrations = false)]
async fn a_list_whose_count_fails_too_is_a_timeout(pool: PgPool) {
    fill(&pool).await;
    let limits = Limits {
        statement: Duration::from_millis(100),
        pause: DEADLINE,
        wait: DEADLINE,
        ..FEW
    };
    let totals = with(&pool, limits);
    let lock = lock(&pool).await;
    let failure = fetch(&pool, &totals).await.unwrap().unwrap_err();
    assert_eq!(failure.code, Code::Timeout);
    lock.rollback().await.unwrap();
    // It is not tried again soon, and not needed by a list that is read in time.
    assert_eq!(fetch(&pool, &totals).await.unwrap().unwrap().total, 100);
    totals.idle().await;
    assert_eq!(known(&kept(&totals), ""), None);
}

#[sqlx::test(migrations = false)]
async fn a_service_that_stops_does_not_wait_for_a_count(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let pool = PgPool::connect_with(options.clone()).await.unwrap();
    fill(&pool).await;
    let url = options.to_url_lossy();
    let options = pg::Options {
        lock_timeout: DEADLINE,
        ..pg::Options::new("platform-tests")
    };
    let service = pg::connect(url.as_str(), &options).unwrap();
    let totals = with(&service, FEW);
    let _lock = lock(&pool).await;
    let list = fetch(&pool, &totals);
    count_begun(&pool).await;
    // The count itself ends later.
    timeout(FEW.statement / 3, service.close()).await.unwrap();
    totals.idle().await;
    assert_eq!(list.await.unwrap().unwrap_err().code, Code::Timeout);
}
