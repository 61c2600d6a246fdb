//! Batches decided on cached rows, without locks: a row that changes before the write is a version
//! conflict, and the batch is decided again.

use platform::error::Code;
use sqlx::PgPool;

use crate::harness::{LARGEST_BALANCE, TestApp, operation, posting, rejection, result, usd};

/// Has each process cache the balances of both wallets, by a rejected transfer: the first batch on a
/// connection takes locks.
pub(crate) async fn fill_caches(processes: &[&TestApp], a: &str, b: &str) {
    for process in processes {
        let rejected = process.transfer(a, b, "1000", true).await;
        assert_eq!(rejection(rejected).code, Code::InsufficientFunds);
    }
}

/// Makes the change wait for a row and then the posting, so that the change is committed after the
/// posting was decided and before it is written.
async fn change_before_write<T>(
    app: &TestApp,
    row: &'static str,
    change: impl Future,
    posting: impl Future<Output = T>,
) -> T {
    let lock = app.lock_row(row).await;
    let posting = async {
        app.until_waiting(1, 0).await;
        posting.await
    };
    let unlock = async {
        app.until_waiting(2, 1).await;
        lock.commit().await.unwrap();
    };
    let (_, posted, ()) = tokio::join!(change, posting, unlock);
    posted
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn concurrent_holds_of_two_replicas_on_one_balance_accept_exactly_one(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let mut replica = app.replica().await;
    let (a, b) = (
        app.funded_wallet("10").await,
        replica.funded_wallet("1").await,
    );
    fill_caches(&[&app, &replica], &a, &b).await;
    let lock = app.lock_row(LARGEST_BALANCE).await;
    let unlock = async {
        app.until_waiting(2, 2).await;
        lock.commit().await.unwrap();
    };
    let (here, there, ()) = tokio::join!(
        app.transfer(&a, &b, "6", false),
        replica.transfer(&a, &b, "7", false),
        unlock
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
async fn an_operation_posted_on_two_replicas_concurrently_takes_effect_once(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let mut replica = app.replica().await;
    let (a, b) = (
        app.funded_wallet("10").await,
        replica.funded_wallet("1").await,
    );
    fill_caches(&[&app, &replica], &a, &b).await;
    let lock = app.lock_row(LARGEST_BALANCE).await;
    let post = async |app: &TestApp| {
        let request = operation("twice", vec![posting(&a, &b, "6")]);
        let posted = app.admin.ledger().post(request).await;
        result(posted).unwrap().transactions
    };
    let unlock = async {
        app.until_waiting(2, 2).await;
        lock.commit().await.unwrap();
    };
    let (here, there, ()) = tokio::join!(post(&app), post(&replica), unlock);
    assert_eq!(here, there);
    assert_eq!(app.balances(&a).await, [usd("4")]);
    replica.stop().await;
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_wallet_locked_before_the_write_pays_nothing(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let mut replica = app.replica().await;
    let (a, b) = (app.funded_wallet("10").await, app.funded_wallet("1").await);
    for process in [&app, &replica] {
        fill_caches(&[process], &a, &b).await;
        let transfer = process.transfer(&a, &b, "6", true);
        let transfer =
            change_before_write(&app, LARGEST_BALANCE, app.lock(&a, true), transfer).await;
        assert_eq!(rejection(transfer).code, Code::WalletLocked);
        app.lock(&a, false).await;
    }
    assert_eq!(app.balances(&a).await, [usd("10")]);
    replica.stop().await;
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn an_asset_disabled_before_the_write_is_not_moved(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let mut replica = app.replica().await;
    let (a, b) = (app.funded_wallet("10").await, app.funded_wallet("1").await);
    let asset = "select from wallet.assets where code = 'usd' for update";
    for process in [&app, &replica] {
        fill_caches(&[process], &a, &b).await;
        let transfer = process.transfer(&a, &b, "6", true);
        let transfer = change_before_write(&app, asset, app.enable("usd", false), transfer).await;
        assert_eq!(rejection(transfer).code, Code::AssetDisabled);
        app.enable("usd", true).await;
    }
    assert_eq!(app.balances(&a).await, [usd("10")]);
    replica.stop().await;
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn changes_of_another_replica_are_seen(pool: PgPool) {
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
async fn a_repeated_operation_returns_its_result_after_the_money_is_spent(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (app.funded_wallet("10").await, app.funded_wallet("1").await);
    let post = async |id: &str, amount: &str| {
        let request = operation(id, vec![posting(&a, &b, amount)]);
        result(app.admin.ledger().post(request).await)
    };
    // First too little is left for another such operation, then enough.
    for (id, amount) in [("large", "8"), ("small", "1")] {
        let posted = post(id, amount).await.unwrap();
        assert_eq!(post(id, amount).await.unwrap(), posted);
        let rejected = post(id, "0.5").await;
        assert_eq!(rejection(rejected).code, Code::IdempotencyKeyReused);
    }
    assert_eq!(app.balances(&a).await, [usd("1")]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_manual_change_of_a_balance_is_not_overwritten(pool: PgPool) {
    let mut app = TestApp::new(pool).await;
    let (a, b) = (app.funded_wallet("10").await, app.funded_wallet("1").await);
    app.transfer(&a, &b, "1", true).await.unwrap();
    let changes = [
        (
            "update wallet.balances set amount = amount + 5 where amount = 9",
            "13",
        ),
        (
            "update wallet.balances set amount = amount - 5 where amount = 13",
            "7",
        ),
    ];
    for (change, left) in changes {
        app.execute(change).await;
        app.transfer(&a, &b, "1", true).await.unwrap();
        assert_eq!(app.balances(&a).await, [usd(left)]);
    }
    // Not consistent: the movements do not have the changes.
    app.stop().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_balance_of_a_lost_timeline_is_not_written(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let mut replica = app.replica().await;
    let (a, b) = (app.funded_wallet("10").await, app.funded_wallet("1").await);
    let saved = "create table public.saved as select * from wallet.balances";
    app.execute(saved).await;
    app.transfer(&a, &b, "4", true).await.unwrap();
    // A failover loses the transfer; the process notices nothing.
    for lost in [
        "delete from wallet.transaction_changes where transaction_id in (
             select id from wallet.transactions where type = 'transfer')",
        "delete from wallet.movements where transaction_id in (
             select id from wallet.transactions where type = 'transfer')",
        "delete from wallet.outbox where aggregate_id in (
             select id from wallet.transactions where type = 'transfer')",
        "delete from wallet.transactions where type = 'transfer'",
        "update wallet.balances set amount = saved.amount, sequence = saved.sequence,
             moved_at = saved.moved_at, version = saved.version
         from public.saved
         where balances.wallet_id = saved.wallet_id and balances.asset_code = saved.asset_code",
        "drop table public.saved",
    ] {
        app.execute(lost).await;
    }
    replica.transfer(&a, &b, "3", true).await.unwrap();
    app.transfer(&a, &b, "2", true).await.unwrap();
    assert_eq!(app.balances(&a).await, [usd("5")]);
    replica.stop().await;
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_wallet_that_is_locked_by_hand_pays_nothing(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (app.funded_wallet("10").await, app.funded_wallet("1").await);
    app.transfer(&a, &b, "1", true).await.unwrap();
    app.execute("update wallet.wallets set locked = true where not system")
        .await;
    let rejected = app.transfer(&a, &b, "1", true).await;
    assert_eq!(rejection(rejected).code, Code::WalletLocked);
    app.finish().await;
}
