//! Many at once: nothing is spent twice, nobody deadlocks, one of two wins.

use futures::future::join_all;
use platform::{error::Code, pg, testing::eventually};
use proto::wallet::v1::TransactionStatus;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use wallet_svc::wallet::{model::WalletId, repo::lock_wallet_in_tx};

use crate::bed::{Bed, SOON, refused};

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn four_hundred_debits_of_one_on_a_hundred(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let other = bed.wallet().await;
    let wallet = bed.funded("100.00").await;
    let debits = (0..400).map(|n| bed.transfer(&wallet, &other, "1.00", n % 2 == 0));
    let (won, lost): (Vec<_>, Vec<_>) = join_all(debits).await.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (100, 300));
    for refusal in lost {
        assert_eq!(refused(refusal).0, Code::InsufficientFunds);
    }
    let pending = won
        .iter()
        .flatten()
        .filter(|tx| tx.status() == TransactionStatus::Pending);
    join_all(pending.map(|tx| bed.confirm(&tx.id))).await;
    assert_eq!(bed.balance(&wallet).await, ["usd 0 0 0 0"]);
    assert_eq!(bed.balance(&other).await, ["usd 100 100 0 0"]);
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn two_replicas_serve_one_ledger(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let mut replica = bed.replica().await;
    let (a, b) = (bed.funded("100").await, bed.funded("100").await);
    let there = (0..80).map(|_| bed.transfer(&a, &b, "1", true));
    let back = (0..80).map(|_| replica.transfer(&b, &a, "1", true));
    let (there, back) = tokio::join!(join_all(there), join_all(back));
    for refusal in there.into_iter().chain(back).filter(Result::is_err) {
        assert_eq!(refused(refusal).0, Code::InsufficientFunds);
    }
    let sum = "select sum(amount)::bigint from wallet.balances where not system";
    assert_eq!(bed.count(sum).await, 200);
    replica.stop().await;
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn of_confirm_and_reject_one_wins(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let mut replica = bed.replica().await;
    let (wallet, other) = (bed.funded("100").await, bed.wallet().await);
    for round in 0..50 {
        let pending = bed.transfer(&wallet, &other, "1", false).await.unwrap();
        let second = if round % 2 == 0 { &bed } else { &replica };
        let (confirmed, rejected) =
            tokio::join!(bed.confirm(&pending.id), second.reject(&pending.id));
        assert_ne!(confirmed.is_ok(), rejected.is_ok());
        let loser = if confirmed.is_ok() {
            rejected
        } else {
            confirmed
        };
        assert_eq!(refused(loser).0, Code::InvalidState);
    }
    replica.stop().await;
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn nothing_is_confirmed_after_the_lock_is_answered(
    _: PgPoolOptions,
    server: PgConnectOptions,
) {
    let bed = Bed::new(server).await;
    let (wallet, other) = (bed.funded("1000").await, bed.wallet().await);
    for _ in 0..10 {
        let locked = async {
            bed.lock(&wallet, true).await;
            bed.balance(&wallet).await
        };
        let transfers = join_all((0..20).map(|_| bed.transfer(&wallet, &other, "1", true)));
        let (after_lock, transfers) = tokio::join!(locked, transfers);
        for refusal in transfers.into_iter().filter(Result::is_err) {
            assert_eq!(refused(refusal).0, Code::WalletLocked);
        }
        assert_eq!(bed.balance(&wallet).await, after_lock);
        bed.lock(&wallet, false).await;
    }
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn an_approval_waits_for_a_wallet_that_is_being_locked(
    _: PgPoolOptions,
    server: PgConnectOptions,
) {
    let bed = Bed::new(server).await;
    let wallet = bed.wallet().await;
    let deposit = bed.deposit(&wallet, "1", "usd").await.unwrap();
    // What a request that locks the wallet holds, from its first statement to its commit.
    let mut locking = pg::tx(&bed.pool).await.unwrap();
    let id = WalletId::parse(&wallet).unwrap();
    lock_wallet_in_tx(&mut locking, id).await.unwrap().unwrap();

    let approval = bed.approve(&deposit.id);
    let lock = async {
        eventually("the approval waits", SOON, async || bed.waiting().await > 0).await;
        sqlx::query("update wallet.wallets set locked = true where id = $1::text::uuid")
            .bind(&wallet)
            .execute(&mut *locking)
            .await
            .unwrap();
        locking.commit().await.unwrap();
    };
    let (approval, ()) = tokio::join!(approval, lock);
    assert_eq!(refused(approval).0, Code::WalletLocked);
    bed.end().await;
}
