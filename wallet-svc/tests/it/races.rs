//! Concurrent requests: nothing is spent twice, nothing deadlocks, one of two contradicting requests
//! wins.

use futures::future::join_all;
use platform::{error::Code, pg, testing::eventually};
use proto::wallet::v1::TransactionStatus;
use sqlx::PgPool;

use crate::harness::{DEADLINE, TestApp, rejection, usd};

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn concurrent_debits_never_overdraw_a_balance(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let other = app.new_wallet().await;
    let wallet = app.funded_wallet("100.00").await;
    let debits = (0..400).map(|n| app.transfer(&wallet, &other, "1.00", n % 2 == 0));
    let (won, lost): (Vec<_>, Vec<_>) = join_all(debits).await.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (100, 300));
    for rejected in lost {
        assert_eq!(rejection(rejected).code, Code::InsufficientFunds);
    }
    let pending = won
        .iter()
        .flatten()
        .filter(|tx| tx.status() == TransactionStatus::Pending);
    join_all(pending.map(|tx| app.confirm(&tx.id))).await;
    assert_eq!(app.balances(&wallet).await, [usd("0")]);
    assert_eq!(app.balances(&other).await, [usd("100")]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn concurrent_transfers_of_two_replicas_keep_the_total(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let mut replica = app.replica().await;
    let (a, b) = (
        app.funded_wallet("100").await,
        app.funded_wallet("100").await,
    );
    let there = (0..80).map(|_| app.transfer(&a, &b, "1", true));
    let back = (0..80).map(|_| replica.transfer(&b, &a, "1", true));
    let (there, back) = tokio::join!(join_all(there), join_all(back));
    for rejected in there.into_iter().chain(back).filter(Result::is_err) {
        assert_eq!(rejection(rejected).code, Code::InsufficientFunds);
    }
    let sum = "select sum(amount)::bigint from wallet.balances where not system";
    assert_eq!(app.count(sum).await, 200);
    replica.stop().await;
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn concurrent_confirm_and_reject_accept_exactly_one(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let mut replica = app.replica().await;
    let (wallet, other) = (app.funded_wallet("100").await, app.new_wallet().await);
    for round in 0..50 {
        let pending = app.transfer(&wallet, &other, "1", false).await.unwrap();
        let second = if round % 2 == 0 { &app } else { &replica };
        let (confirmed, rejected) =
            tokio::join!(app.confirm(&pending.id), second.reject(&pending.id));
        assert_ne!(confirmed.is_ok(), rejected.is_ok());
        let loser = if confirmed.is_ok() {
            rejected
        } else {
            confirmed
        };
        assert_eq!(rejection(loser).code, Code::InvalidState);
    }
    replica.stop().await;
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn no_transfer_is_accepted_after_a_wallet_lock_is_confirmed(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (wallet, other) = (app.funded_wallet("1000").await, app.new_wallet().await);
    for _ in 0..10 {
        let locked = async {
            app.lock(&wallet, true).await;
            app.balances(&wallet).await
        };
        let transfers = join_all((0..20).map(|_| app.transfer(&wallet, &other, "1", true)));
        let (after_lock, transfers) = tokio::join!(locked, transfers);
        for rejected in transfers.into_iter().filter(Result::is_err) {
            assert_eq!(rejection(rejected).code, Code::WalletLocked);
        }
        assert_eq!(app.balances(&wallet).await, after_lock);
        app.lock(&wallet, false).await;
    }
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn an_approval_waits_for_a_wallet_that_is_being_locked(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.new_wallet().await;
    let deposit = app.deposit(&wallet, "1", "usd").await.unwrap();
    // The row locks of a request that locks the wallet.
    let mut locking = pg::tx(&app.pool).await.unwrap();
    for lock in [
        "select from wallet.wallets where id = $1::text::uuid for update",
        "select from wallet.balances where wallet_id = $1::text::uuid for update",
    ] {
        let locked = sqlx::query(lock).bind(&wallet).execute(&mut *locking);
        assert_eq!(locked.await.unwrap().rows_affected(), 1);
    }

    let approval = app.approve(&deposit.id);
    let lock = async {
        eventually("the approval waits", DEADLINE, async || {
            app.lock_waiters().await > 0
        })
        .await;
        sqlx::query("update wallet.wallets set locked = true where id = $1::text::uuid")
            .bind(&wallet)
            .execute(&mut *locking)
            .await
            .unwrap();
        locking.commit().await.unwrap();
    };
    let (approval, ()) = tokio::join!(approval, lock);
    assert_eq!(rejection(approval).code, Code::WalletLocked);
    app.finish().await;
}
