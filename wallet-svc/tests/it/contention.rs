//! Postings that are slow, repeated, or late: they hold up no others.

use std::time::Duration;

use futures::future::join_all;
use platform::{error::Code, idempotency::is_replay, pg, testing::eventually};
use sqlx::{PgPool, Postgres, Transaction};
use tonic::Request;

use crate::{
    harness::{DEADLINE, TestApp, keyed, rejection, result, transfer, usd},
    proxy::app_behind_proxy,
};

const TRANSFERS: &str = "select count(*) from wallet.transactions where type = 'transfer'";

/// Locks the balances of a wallet until the transaction ends.
async fn lock_balances(app: &TestApp, wallet: &str) -> Transaction<'static, Postgres> {
    let mut tx = pg::tx(&app.pool).await.unwrap();
    sqlx::query("select from wallet.balances where wallet_id = $1::uuid for update")
        .bind(wallet)
        .execute(&mut *tx)
        .await
        .unwrap();
    tx
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_locked_balance_fails_only_the_postings_that_need_it(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (wallet, other) = (app.funded_wallet("100").await, app.new_wallet().await);
    let locked = app.funded_wallet("100").await;
    app.transfer(&wallet, &other, "1", true).await.unwrap();
    let lock = lock_balances(&app, &locked).await;
    let transfers = (0..60).map(|n| {
        let from = if n % 20 == 7 { &locked } else { &wallet };
        app.transfer(from, &other, "1", true)
    });
    let (accepted, failed): (Vec<_>, Vec<_>) = join_all(transfers)
        .await
        .into_iter()
        .partition(Result::is_ok);
    assert_eq!((accepted.len(), failed.len()), (57, 3));
    // Those that arrive late in a slow run wait for longer than their callers.
    for rejected in failed {
        let code = rejection(rejected).code;
        assert!(
            matches!(code, Code::Unavailable | Code::Timeout),
            "{code:?}"
        );
    }
    lock.rollback().await.unwrap();
    app.transfer(&locked, &other, "1", true).await.unwrap();
    assert_eq!(app.balances(&wallet).await, [usd("42")]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_posting_does_not_happen_after_its_callers_deadline(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (wallet, other) = (app.funded_wallet("10").await, app.new_wallet().await);
    let locked = app.funded_wallet("10").await;
    app.transfer(&wallet, &other, "1", true).await.unwrap();
    let lock = lock_balances(&app, &locked).await;
    let slow = app.transfer(&locked, &other, "1", true);
    let late = async {
        eventually("the worker waits", DEADLINE, async || {
            app.lock_waiters().await == 1
        })
        .await;
        let mut late = Request::new(transfer(&wallet, &other, "5", true));
        late.set_timeout(Duration::from_millis(100));
        let late = app.admin.transactions().create_transfer(late).await;
        result(late).unwrap_err();
        lock.rollback().await.unwrap();
    };
    let (slow, ()) = tokio::join!(slow, late);
    slow.unwrap();
    app.transfer(&wallet, &other, "1", true).await.unwrap();
    assert_eq!(app.count(TRANSFERS).await, 3);
    assert_eq!(app.balances(&wallet).await, [usd("8")]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn repeats_of_a_key_are_answered_with_the_first(pool: PgPool) {
    let (app, proxy) = app_behind_proxy(pool).await;
    let (wallet, other) = (app.funded_wallet("100").await, app.new_wallet().await);
    app.transfer(&wallet, &other, "1", true).await.unwrap();
    let before = proxy.commits();
    let sent = join_all((0..100).map(|n| {
        let hash = if n % 25 == 24 { "01" } else { "00" };
        let request = keyed(transfer(&wallet, &other, "1", true), "again", hash);
        let mut transactions = app.admin.transactions();
        async move { transactions.create_transfer(request).await }
    }))
    .await;
    let (accepted, reused): (Vec<_>, Vec<_>) = sent.into_iter().partition(Result::is_ok);
    assert_eq!((accepted.len(), reused.len()), (96, 4));
    for reused in reused {
        assert_eq!(rejection(result(reused)).code, Code::IdempotencyKeyReused);
    }
    let accepted: Vec<_> = accepted.into_iter().map(Result::unwrap).collect();
    let replays = accepted.iter().filter(|one| is_replay(one.metadata()));
    assert_eq!(replays.count(), 95);
    let first = accepted[0].get_ref();
    assert!(accepted.iter().all(|one| one.get_ref() == first));
    // Not one batch for each repeat: the requests arrive over some milliseconds.
    let batches = proxy.commits() - before;
    assert!(batches <= 10, "{batches} batches");
    assert_eq!(app.count(TRANSFERS).await, 2);
    app.finish().await;
}
