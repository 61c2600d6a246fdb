//! One effect a key.

use futures::future::join_all;
use platform::{error::Code, idempotency::is_replay};
use proto::wallet::v1 as wire;
use sqlx::PgPool;

use crate::harness::{TestApp, keyed, rejection, result, transfer, usd};

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_repeat_gets_the_first_answer(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (wallet, other) = (app.funded_wallet("100").await, app.new_wallet().await);
    let request = || keyed(transfer(&wallet, &other, "10", false), "k", "00");
    let first = app
        .admin
        .transactions()
        .create_transfer(request())
        .await
        .unwrap();
    assert!(!is_replay(first.metadata()));
    let first = first.into_inner();
    app.confirm(&first.transaction.as_ref().unwrap().id)
        .await
        .unwrap();
    let again = app
        .admin
        .transactions()
        .create_transfer(request())
        .await
        .unwrap();
    assert!(is_replay(again.metadata()));
    assert_eq!(again.into_inner(), first);

    let other_body = keyed(transfer(&wallet, &other, "20", false), "k", "01");
    let rejected = app.admin.transactions().create_transfer(other_body).await;
    assert_eq!(rejection(result(rejected)).code, Code::IdempotencyKeyReused);
    assert_eq!(app.balances(&wallet).await, [usd("90")]);

    // Only success is recorded: a rejected request may succeed later.
    let request = || keyed(transfer(&wallet, &other, "100", true), "l", "00");
    let rejected = app.admin.transactions().create_transfer(request()).await;
    assert_eq!(rejection(result(rejected)).code, Code::InsufficientFunds);
    app.fund(&wallet, "10", "usd").await;
    app.admin
        .transactions()
        .create_transfer(request())
        .await
        .unwrap();
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_hundred_at_once_have_one_effect(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let mut replica = app.replica().await;
    let (wallet, other) = (app.funded_wallet("100").await, app.new_wallet().await);
    let calls = (0..100).map(|n| {
        let mut client = if n % 2 == 0 {
            app.admin.transactions()
        } else {
            replica.admin.transactions()
        };
        let request = keyed(transfer(&wallet, &other, "1", true), "k", "00");
        async move { client.create_transfer(request).await.unwrap() }
    });
    let answers = join_all(calls).await;
    let fresh = answers
        .iter()
        .filter(|answer| !is_replay(answer.metadata()));
    assert_eq!(fresh.count(), 1);
    assert!(
        answers
            .iter()
            .all(|answer| answer.get_ref() == answers[0].get_ref())
    );
    assert_eq!(app.balances(&other).await, [usd("1")]);

    let bodies = (0..20).map(|n| {
        let amount = if n % 2 == 0 { "10" } else { "20" };
        let request = keyed(
            transfer(&wallet, &other, amount, true),
            "m",
            &format!("0{}", n % 2),
        );
        let mut client = app.admin.transactions();
        async move { client.create_transfer(request).await }
    });
    for answer in join_all(bodies).await.into_iter().filter(Result::is_err) {
        assert_eq!(rejection(result(answer)).code, Code::IdempotencyKeyReused);
    }
    assert_eq!(
        app.count("select count(*) from wallet.transactions").await,
        3
    );
    replica.stop().await;
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn actions_and_wallets_take_keys_too(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.new_wallet().await;
    let deposit = app.deposit(&wallet, "5", "usd").await.unwrap();
    let confirm = || {
        keyed(
            wire::ConfirmTransactionRequest {
                id: deposit.id.clone(),
            },
            "c",
            "00",
        )
    };
    let first = app
        .admin
        .transactions()
        .confirm_transaction(confirm())
        .await
        .unwrap();
    let again = app
        .admin
        .transactions()
        .confirm_transaction(confirm())
        .await
        .unwrap();
    assert!(is_replay(again.metadata()));
    assert_eq!(first.into_inner(), again.into_inner());

    let create = || keyed(wire::CreateWalletRequest::default(), "w", "00");
    let first = app
        .admin
        .wallets()
        .create_wallet(create())
        .await
        .unwrap()
        .into_inner();
    let again = app.admin.wallets().create_wallet(create()).await.unwrap();
    assert!(is_replay(again.metadata()));
    assert_eq!(first, again.into_inner());
    app.finish().await;
}
