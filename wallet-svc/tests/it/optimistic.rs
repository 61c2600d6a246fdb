//! Postings are decided without locks, on what the poster remembers or reads: what has changed when
//! they are written makes them be decided again.

use platform::{error::Code, pg, testing::eventually};
use proto::wallet::v1 as wire;
use sqlx::{PgPool, Postgres, Transaction};

use crate::harness::{DEADLINE, TestApp, posting, rejection, result, usd};

const RICHEST: &str = "select from wallet.balances
     where not system order by amount desc limit 1 for update";

/// Holds a row that others have to wait for.
async fn hold(app: &TestApp, row: &'static str) -> Transaction<'static, Postgres> {
    let mut held = pg::tx(&app.pool).await.unwrap();
    sqlx::query(row).execute(&mut *held).await.unwrap();
    held
}

/// Until so many wait, of which some are postings that have been decided.
async fn until_waiting(app: &TestApp, all: i64, decided: i64) {
    const DECIDED: &str = "select count(*) from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'
             and query like '/* posting.write */%'";
    eventually("all wait", DEADLINE, async || {
        app.lock_waiters().await == all && app.count(DECIDED).await == decided
    })
    .await;
}

/// Has a change wait for a row, and then a posting, so that the change is made when the posting has
/// been decided and is not written yet.
async fn in_between<T>(
    app: &TestApp,
    row: &'static str,
    change: impl Future,
    posting: impl Future<Output = T>,
) -> T {
    let held = hold(app, row).await;
    let posting = async {
        until_waiting(app, 1, 0).await;
        posting.await
    };
    let go = async {
        until_waiting(app, 2, 1).await;
        held.commit().await.unwrap();
    };
    let (_, posted, ()) = tokio::join!(change, posting, go);
    posted
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn of_two_replicas_that_read_the_same_money_one_holds_it(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let mut replica = app.replica().await;
    // The first posting of each takes locks.
    let (a, b) = (
        app.funded_wallet("10").await,
        replica.funded_wallet("1").await,
    );
    let held = hold(&app, RICHEST).await;
    let go = async {
        until_waiting(&app, 2, 2).await;
        held.commit().await.unwrap();
    };
    let (here, there, ()) = tokio::join!(
        app.transfer(&a, &b, "6", false),
        replica.transfer(&a, &b, "7", false),
        go
    );
    assert_ne!(here.is_ok(), there.is_ok());
    let (balance, loser) = if here.is_ok() {
        (usd("10").available("4").held("6"), there)
    } else {
        (usd("10").available("3").held("7"), here)
    };
    assert_eq!(rejection(loser).code, Code::InsufficientFunds);
    assert_eq!(app.balances(&a).await, [balance]);
    replica.stop().await;
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn what_two_replicas_do_at_once_is_done_once(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let mut replica = app.replica().await;
    // The first posting of each takes locks.
    let (a, b) = (
        app.funded_wallet("10").await,
        replica.funded_wallet("1").await,
    );
    let held = hold(&app, RICHEST).await;
    let post = async |app: &TestApp| {
        let request = wire::PostRequest {
            operation_id: "twice".to_owned(),
            postings: vec![posting(&a, &b, "6")],
        };
        let posted = app.admin.ledger().post(request).await;
        result(posted).unwrap().transactions
    };
    let go = async {
        until_waiting(&app, 2, 2).await;
        held.commit().await.unwrap();
    };
    let (here, there, ()) = tokio::join!(post(&app), post(&replica), go);
    assert_eq!(here, there);
    assert_eq!(app.balances(&a).await, [usd("4")]);
    replica.stop().await;
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_wallet_locked_in_between_pays_nothing(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let mut replica = app.replica().await;
    // The replica knows neither.
    let (a, b) = (app.funded_wallet("10").await, app.funded_wallet("1").await);
    replica.funded_wallet("1").await;
    for poster in [&app, &replica] {
        let transfer = poster.transfer(&a, &b, "6", true);
        let transfer = in_between(&app, RICHEST, app.lock(&a, true), transfer).await;
        assert_eq!(rejection(transfer).code, Code::WalletLocked);
        app.lock(&a, false).await;
    }
    assert_eq!(app.balances(&a).await, [usd("10")]);
    replica.stop().await;
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn an_asset_disabled_in_between_is_not_moved(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let mut replica = app.replica().await;
    // The replica knows neither.
    let (a, b) = (app.funded_wallet("10").await, app.funded_wallet("1").await);
    replica.funded_wallet("1").await;
    let asset = "select from wallet.assets where code = 'usd' for update";
    for poster in [&app, &replica] {
        let transfer = poster.transfer(&a, &b, "6", true);
        let transfer = in_between(&app, asset, app.enable("usd", false), transfer).await;
        assert_eq!(rejection(transfer).code, Code::AssetDisabled);
        app.enable("usd", true).await;
    }
    assert_eq!(app.balances(&a).await, [usd("10")]);
    replica.stop().await;
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn what_another_replica_moved_is_seen(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let mut replica = app.replica().await;
    let (a, b) = (app.funded_wallet("1").await, app.funded_wallet("1").await);
    replica.fund(&a, "9", "usd").await;
    app.transfer(&a, &b, "6", true).await.unwrap();
    replica.transfer(&b, &a, "7", true).await.unwrap();
    let rejected = app.transfer(&b, &a, "1", true).await;
    assert_eq!(rejection(rejected).code, Code::InsufficientFunds);
    app.transfer(&a, &b, "11", true).await.unwrap();
    assert_eq!(app.balances(&b).await, [usd("11")]);
    replica.stop().await;
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_repeat_is_answered_though_the_money_is_gone(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (app.funded_wallet("10").await, app.funded_wallet("1").await);
    let post = async |id: &str, amount: &str| {
        let request = wire::PostRequest {
            operation_id: id.to_owned(),
            postings: vec![posting(&a, &b, amount)],
        };
        result(app.admin.ledger().post(request).await)
    };
    // Without money left for another, and with.
    for (id, amount) in [("large", "8"), ("small", "1")] {
        let posted = post(id, amount).await.unwrap();
        assert_eq!(post(id, amount).await.unwrap(), posted);
        let rejected = post(id, "0.5").await;
        assert_eq!(rejection(rejected).code, Code::IdempotencyKeyReused);
    }
    assert_eq!(app.balances(&a).await, [usd("1")]);
    app.finish().await;
}
