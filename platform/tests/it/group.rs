//! Writes that share transactions.

use std::time::Duration;

use futures::future::{FutureExt as _, join_all};
use platform::{
    error::{Code, Failure},
    pg::{self, Group, GroupError, GroupWrite},
};
use sqlx::{PgConnection, PgPool};
use tokio::task::JoinSet;

use crate::harness::TIMEOUT;

const PANICS: i32 = 99;

/// Inserts numbers, and returns the transaction of each.
struct Insert;

impl GroupWrite for Insert {
    type Item = i32;
    type Output = i64;

    async fn write_in_tx(
        &self,
        conn: &mut PgConnection,
        numbers: &[i32],
    ) -> Result<Vec<i64>, sqlx::Error> {
        assert!(!numbers.contains(&PANICS), "a fault of the program");
        let insert = "insert into numbers select * from unnest($1::integer[])
                      returning (pg_current_xact_id()::text)::bigint";
        sqlx::query_scalar(insert)
            .bind(numbers)
            .fetch_all(conn)
            .await
    }
}

async fn group(pool: &PgPool) -> Group<Insert> {
    let create = "create table numbers (n integer primary key check (n >= 0))";
    sqlx::query(create).execute(pool).await.unwrap();
    Group::new(pool.clone(), Insert)
}

async fn stored(pool: &PgPool) -> Vec<i32> {
    let numbers = sqlx::query_scalar("select n from numbers order by n");
    numbers.fetch_all(pool).await.unwrap()
}

#[sqlx::test(migrations = false)]
async fn requests_that_wait_share_a_transaction(pool: PgPool) {
    let group = group(&pool).await;
    let written = join_all((0..20).map(|n| group.write(n))).await;
    let mut transactions: Vec<_> = written.into_iter().map(Result::unwrap).collect();
    transactions.sort_unstable();
    transactions.dedup();
    assert_eq!(stored(&pool).await, (0..20).collect::<Vec<_>>());
    assert!(transactions.len() <= 2, "{transactions:?}");
}

#[sqlx::test(migrations = false)]
async fn a_transaction_that_waits_for_a_lock_does_not_hold_up_the_others(pool: PgPool) {
    let group = group(&pool).await;
    let mut blocker = pg::tx(&pool).await.unwrap();
    let lock = sqlx::query("insert into numbers (n) values (1)");
    lock.execute(&mut *blocker).await.unwrap();
    let mut blocked = Box::pin(group.write(1));
    assert!(blocked.as_mut().now_or_never().is_none());
    let mut others = JoinSet::new();
    let mut arrivals = tokio::time::interval(Duration::from_millis(10));
    let other = async {
        for n in PANICS + 1.. {
            let group = group.clone();
            others.spawn(async move { group.write(n).await });
            tokio::select! {
                _ = arrivals.tick() => {}
                Some(written) = others.join_next() => return written.unwrap(),
            }
        }
        unreachable!("numbers do not end")
    };
    let written = tokio::time::timeout(TIMEOUT, other).await.unwrap();
    written.unwrap();
    assert!(blocked.as_mut().now_or_never().is_none());
    blocker.rollback().await.unwrap();
    blocked.await.unwrap();
}

#[sqlx::test(migrations = false)]
async fn an_item_that_the_database_refuses_fails_alone(pool: PgPool) {
    let group = group(&pool).await;
    let mut written = join_all((-1..5).map(|n| group.write(n))).await;
    let refused = written.remove(0).unwrap_err();
    let GroupError::Database(error) = &refused else {
        panic!("{refused}");
    };
    let error = error.as_database_error().unwrap();
    assert_eq!(error.constraint(), Some("numbers_n_check"));
    assert_eq!(Failure::from(refused).code, Code::Internal);
    assert!(written.iter().all(Result::is_ok), "{written:?}");
    assert_eq!(stored(&pool).await, [0, 1, 2, 3, 4]);
}

#[sqlx::test(migrations = false)]
async fn a_request_that_is_cancelled_while_it_waits_writes_nothing(pool: PgPool) {
    let group = group(&pool).await;
    let mut cancelled = Box::pin(group.write(1));
    assert!(cancelled.as_mut().now_or_never().is_none());
    drop(cancelled);
    group.write(2).await.unwrap();
    assert_eq!(stored(&pool).await, [2]);
}

#[sqlx::test(migrations = false)]
async fn after_a_panic_the_next_request_is_written(pool: PgPool) {
    let group = group(&pool).await;
    let lost = group.write(PANICS).await.unwrap_err();
    assert!(matches!(lost, GroupError::Lost), "{lost}");
    group.write(1).await.unwrap();
    assert_eq!(stored(&pool).await, [1]);
}

#[sqlx::test(migrations = false)]
async fn without_a_database_requests_fail_as_unavailable(pool: PgPool) {
    let group = group(&pool).await;
    pool.close().await;
    let error = group.write(1).await.unwrap_err();
    assert_eq!(Failure::from(error).code, Code::Unavailable);
}

#[sqlx::test(migrations = false)]
async fn requests_beyond_the_bound_are_refused_and_the_others_written(pool: PgPool) {
    let group = group(&pool).await;
    let written = join_all((1_000..3_000).map(|n| group.write(n))).await;
    let (ok, refused): (Vec<_>, Vec<_>) = written.into_iter().partition(Result::is_ok);
    assert!(!refused.is_empty());
    for refused in refused {
        let error = refused.unwrap_err();
        assert!(matches!(error, GroupError::Full), "{error}");
        assert_eq!(Failure::from(error).code, Code::Unavailable);
    }
    assert_eq!(stored(&pool).await.len(), ok.len());
}
