//! One effect a key.

use futures::future::join_all;
use platform::{error::Code, idempotency::is_replay};
use proto::wallet::v1 as wire;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::bed::{Bed, keyed, refused, result, transfer};

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_repeat_gets_the_first_answer(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let (wallet, other) = (bed.funded("100").await, bed.wallet().await);
    let request = || keyed(transfer(&wallet, &other, "10", false), "k", "00");
    let first = bed.transactions().create_transfer(request()).await.unwrap();
    assert!(!is_replay(first.metadata()));
    let first = first.into_inner();
    bed.confirm(&first.transaction.as_ref().unwrap().id)
        .await
        .unwrap();
    let again = bed.transactions().create_transfer(request()).await.unwrap();
    assert!(is_replay(again.metadata()));
    assert_eq!(again.into_inner(), first);

    let other_body = keyed(transfer(&wallet, &other, "20", false), "k", "01");
    let refusal = bed.transactions().create_transfer(other_body).await;
    assert_eq!(refused(result(refusal)).0, Code::IdempotencyKeyReused);
    assert_eq!(bed.balance(&wallet).await, ["usd 90 90 0 0"]);

    // A refusal is judged afresh.
    let request = || keyed(transfer(&wallet, &other, "100", true), "l", "00");
    let refusal = bed.transactions().create_transfer(request()).await;
    assert_eq!(refused(result(refusal)).0, Code::InsufficientFunds);
    bed.fund(&wallet, "10", "usd").await;
    bed.transactions().create_transfer(request()).await.unwrap();
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_hundred_at_once_have_one_effect(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let mut replica = bed.replica().await;
    let (wallet, other) = (bed.funded("100").await, bed.wallet().await);
    let calls = (0..100).map(|n| {
        let mut client = if n % 2 == 0 {
            bed.transactions()
        } else {
            replica.transactions()
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
    assert_eq!(bed.balance(&other).await, ["usd 1 1 0 0"]);

    let bodies = (0..20).map(|n| {
        let amount = if n % 2 == 0 { "10" } else { "20" };
        let request = keyed(
            transfer(&wallet, &other, amount, true),
            "m",
            &format!("0{}", n % 2),
        );
        let mut client = bed.transactions();
        async move { client.create_transfer(request).await }
    });
    for answer in join_all(bodies).await.into_iter().filter(Result::is_err) {
        assert_eq!(refused(result(answer)).0, Code::IdempotencyKeyReused);
    }
    assert_eq!(
        bed.count("select count(*) from wallet.transactions").await,
        3
    );
    replica.stop().await;
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn actions_and_wallets_take_keys_too(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let wallet = bed.wallet().await;
    let deposit = bed.deposit(&wallet, "5", "usd").await.unwrap();
    let confirm = || {
        keyed(
            wire::ConfirmTransactionRequest {
                id: deposit.id.clone(),
            },
            "c",
            "00",
        )
    };
    let first = bed
        .transactions()
        .confirm_transaction(confirm())
        .await
        .unwrap();
    let again = bed
        .transactions()
        .confirm_transaction(confirm())
        .await
        .unwrap();
    assert!(is_replay(again.metadata()));
    assert_eq!(first.into_inner(), again.into_inner());

    let create = || keyed(wire::CreateWalletRequest::default(), "w", "00");
    let first = bed
        .wallets()
        .create_wallet(create())
        .await
        .unwrap()
        .into_inner();
    let again = bed.wallets().create_wallet(create()).await.unwrap();
    assert!(is_replay(again.metadata()));
    assert_eq!(first, again.into_inner());
    bed.end().await;
}
