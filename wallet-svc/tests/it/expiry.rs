//! Operations with a time after which they are not accepted.

use platform::{error::Code, testing::eventually};
use prost_types::Timestamp;
use proto::wallet::v1 as wire;
use sqlx::PgPool;

use crate::{
    harness::{
        DEADLINE, LARGEST_BALANCE, Rejection, TestApp, invalid, operation, posting, rejection,
        result, usd,
    },
    optimistic::fill_caches,
};

impl TestApp {
    /// Returns the time in this many milliseconds, by the database's clock.
    async fn time_in(&self, millis: i64) -> Timestamp {
        let micros: i64 = sqlx::query_scalar(
            "select (extract(epoch from clock_timestamp()) * 1000000)::bigint + $1 * 1000",
        )
        .bind(millis)
        .fetch_one(&self.pool)
        .await
        .unwrap();
        Timestamp {
            seconds: micros.div_euclid(1_000_000),
            nanos: i32::try_from(micros.rem_euclid(1_000_000)).unwrap() * 1_000,
        }
    }

    async fn until(&self, time: &Timestamp) {
        eventually("the time is over", DEADLINE, async || {
            let now = self.time_in(0).await;
            (now.seconds, now.nanos) > (time.seconds, time.nanos)
        })
        .await;
    }

    async fn post_until(
        &self,
        not_after: Timestamp,
        postings: Vec<wire::Posting>,
    ) -> Result<Vec<wire::Transaction>, Rejection> {
        let request = wire::PostRequest {
            not_after: Some(not_after),
            ..operation("o", postings)
        };
        let posted = result(self.admin.ledger().post(request).await);
        match posted {
            Ok(posted) => Ok(posted.transactions),
            rejected => Err(rejection(rejected)),
        }
    }
}

fn code(result: Result<Vec<wire::Transaction>, Rejection>) -> Code {
    result.unwrap_err().code
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn an_operation_is_accepted_until_its_time_and_never_later(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (app.funded_wallet("10").await, app.new_wallet().await);
    let post = async |wait: i64| {
        let not_after = app.time_in(wait).await;
        app.post_until(not_after, vec![posting(&a, &b, "4")]).await
    };
    // The wallet has no balance at first, then all is cached.
    for _ in 0..2 {
        assert_eq!(code(post(-1_000).await), Code::Unavailable);
        assert_eq!(code(post(-6_000).await), Code::OperationExpired);
        app.fund(&b, "1", "usd").await;
    }
    assert_eq!(app.balances(&a).await, [usd("10")]);
    let posted = post(30_000).await.unwrap();
    assert_eq!(app.balances(&a).await, [usd("6")]);
    for wait in [-1_000, -6_000] {
        assert_eq!(post(wait).await.unwrap(), posted);
    }
    assert_eq!(app.balances(&a).await, [usd("6")]);
    app.finish().await;
}

/// The write is decided in time, waits for a balance, and has it when the time is over.
#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn an_operation_whose_time_ends_during_the_write_is_not_accepted(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let mut replica = app.replica().await;
    let (a, b) = (app.funded_wallet("10").await, app.funded_wallet("1").await);
    fill_caches(&[&app, &replica], &a, &b).await;
    for process in [&app, &replica] {
        let lock = app.lock_row(LARGEST_BALANCE).await;
        let not_after = app.time_in(1_000).await;
        let post = process.post_until(not_after, vec![posting(&a, &b, "4")]);
        let unlock = async {
            app.until_waiting(1, 1).await;
            app.until(&not_after).await;
            lock.commit().await.unwrap();
        };
        let (posted, ()) = tokio::join!(post, unlock);
        assert_eq!(code(posted), Code::Unavailable);
    }
    assert_eq!(app.balances(&a).await, [usd("10")]);
    replica.stop().await;
    app.finish().await;
}

/// An earlier call may hold the locks of its balances, about to commit.
#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn an_operation_expires_after_the_end_of_earlier_calls(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (app.funded_wallet("10").await, app.funded_wallet("1").await);
    let lock = app.lock_row(LARGEST_BALANCE).await;
    let not_after = app.time_in(-6_000).await;
    let post = app.post_until(not_after, vec![posting(&a, &b, "4")]);
    let unlock = async {
        app.until_waiting(1, 0).await;
        lock.commit().await.unwrap();
    };
    let (posted, ()) = tokio::join!(post, unlock);
    assert_eq!(code(posted), Code::OperationExpired);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_time_is_within_the_calendar(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (app.funded_wallet("10").await, app.new_wallet().await);
    for seconds in [i64::MIN, i64::MAX] {
        let time = Timestamp { seconds, nanos: 0 };
        let posted = app.post_until(time, vec![posting(&a, &b, "4")]).await;
        assert_eq!(posted.unwrap_err(), invalid(&["notAfter"]));
    }
    app.finish().await;
}
