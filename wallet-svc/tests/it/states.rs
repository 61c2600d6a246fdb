//! The state table, and what is held in each state.

use platform::error::Code;
use proto::wallet::v1::{self as wire, TransactionStatus};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::bed::{Bed, refused, result, transfer};

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_deposit_counts_once_it_is_confirmed(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let wallet = bed.wallet().await;
    assert!(bed.balance(&wallet).await.is_empty());

    let deposit = bed.deposit(&wallet, "100.00", "USD").await.unwrap();
    assert_eq!(deposit.status(), TransactionStatus::Pending);
    assert_eq!(
        (&*deposit.asset_code, &*deposit.amount),
        ("usd", "100.00000000")
    );
    assert_eq!(deposit.origin_wallet_id, None);
    assert_eq!(deposit.metadata, r#"{"data":{}}"#);
    assert_eq!(bed.balance(&wallet).await, ["usd 0 0 0 100"]);

    let approved = bed.approve(&deposit.id).await.unwrap();
    assert_eq!(approved.status(), TransactionStatus::Processing);
    assert_eq!(approved.processed_at, None);
    let confirmed = bed.confirm(&deposit.id).await.unwrap();
    assert_eq!(confirmed.status(), TransactionStatus::Confirmed);
    assert!(confirmed.processed_at.is_some());
    assert_eq!(bed.balance(&wallet).await, ["usd 100 100 0 0"]);

    let read = wire::GetTransactionRequest {
        id: deposit.id.to_uppercase(),
    };
    let read = result(bed.transactions().get_transaction(read).await).unwrap();
    assert_eq!(read.transaction.unwrap(), confirmed);
    assert_eq!(
        bed.events(&deposit.id).await,
        [
            "TransactionCreated",
            "TransactionApproved",
            "TransactionConfirmed"
        ]
    );
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn final_states_are_final(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let wallet = bed.funded("100").await;
    let (confirmed, failed, rejected, processing) = (
        bed.withdraw(&wallet, "1").await.unwrap().id,
        bed.withdraw(&wallet, "2").await.unwrap().id,
        bed.withdraw(&wallet, "3").await.unwrap().id,
        bed.withdraw(&wallet, "4").await.unwrap().id,
    );
    bed.confirm(&confirmed).await.unwrap();
    let failure = bed.fail(&failed).await.unwrap();
    assert_eq!(failure.metadata, r#"{"failReason":"no answer"}"#);
    assert_eq!(
        bed.reject(&rejected).await.unwrap().status(),
        TransactionStatus::Rejected
    );
    bed.approve(&processing).await.unwrap();
    assert_eq!(bed.balance(&wallet).await, ["usd 99 95 4 0"]);
    for id in [&confirmed, &failed, &rejected] {
        for again in [
            bed.approve(id).await,
            bed.confirm(id).await,
            bed.fail(id).await,
            bed.reject(id).await,
        ] {
            assert_eq!(refused(again), (Code::InvalidState, vec![]));
        }
    }
    assert_eq!(refused(bed.reject(&processing).await).0, Code::InvalidState);
    assert_eq!(
        refused(bed.approve(&processing).await).0,
        Code::InvalidState
    );
    bed.fail(&processing).await.unwrap();
    assert_eq!(bed.balance(&wallet).await, ["usd 99 99 0 0"]);
    let unknown = "0192abcd-0000-7000-8000-00000000000f";
    for id in [unknown, "x"] {
        assert_eq!(refused(bed.confirm(id).await).0, Code::TransactionNotFound);
    }
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn debits_are_held_from_creation(_: PgPoolOptions, server: PgConnectOptions) {
    let mut bed = Bed::new(server).await;
    let (wallet, other) = (bed.funded("100").await, bed.wallet().await);
    let held = bed.withdraw(&wallet, "100").await.unwrap();
    assert_eq!(bed.balance(&wallet).await, ["usd 100 0 100 0"]);
    for refusal in [
        bed.withdraw(&wallet, "100").await,
        bed.transfer(&wallet, &other, "0.01", true).await,
        bed.transfer(&wallet, &other, "0.01", false).await,
    ] {
        assert_eq!(
            refused(refusal),
            (Code::InsufficientFunds, vec!["amount".to_owned()])
        );
    }
    // What is held survives a restart.
    bed.stop().await;
    bed.start(3).await;
    bed.reject(&held.id).await.unwrap();
    assert!(bed.balance(&other).await.is_empty());
    let pending = bed.transfer(&wallet, &other, "60", false).await.unwrap();
    assert_eq!(bed.balance(&wallet).await, ["usd 100 40 60 0"]);
    assert_eq!(bed.balance(&other).await, ["usd 0 0 0 60"]);
    bed.confirm(&pending.id).await.unwrap();
    bed.transfer(&wallet, &other, "40", true).await.unwrap();
    assert_eq!(bed.balance(&wallet).await, ["usd 0 0 0 0"]);
    assert_eq!(bed.balance(&other).await, ["usd 100 100 0 0"]);
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn commit_skips_states(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let (wallet, other) = (bed.funded("10").await, bed.wallet().await);
    let moved = bed.transfer(&wallet, &other, "3", true).await.unwrap();
    assert_eq!(moved.status(), TransactionStatus::Confirmed);
    assert_eq!(
        bed.events(&moved.id).await,
        ["TransactionCreated", "TransactionConfirmed"]
    );
    let request = wire::CreateDepositRequest {
        amount: "5".to_owned(),
        asset_code: "usd".to_owned(),
        code: "internal".to_owned(),
        data: r#"{"n": 1.0}"#.to_owned(),
        destination_wallet_id: other.clone(),
        commit: true,
        ..wire::CreateDepositRequest::default()
    };
    let deposit = result(bed.transactions().create_deposit(request).await).unwrap();
    let deposit = deposit.transaction.unwrap();
    assert_eq!(deposit.status(), TransactionStatus::Processing);
    assert_eq!(deposit.metadata, r#"{"data":{"n": 1.0}}"#);
    assert_eq!(bed.balance(&other).await, ["usd 3 3 0 5"]);
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn payments_go_to_the_default_wallet(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let settings = bed.settings().await;
    assert_eq!(
        (&*settings.default_asset_code, &settings.bonus_asset_code),
        ("usd", &None)
    );
    let wallet = bed.funded("10").await;
    let request = wire::CreatePaymentRequest {
        amount: "4.50".to_owned(),
        asset_code: "usd".to_owned(),
        origin_wallet_id: wallet.clone(),
        ..wire::CreatePaymentRequest::default()
    };
    let paid = result(bed.transactions().create_payment(request).await).unwrap();
    let paid = paid.transaction.unwrap();
    assert_eq!(
        (&*paid.code, paid.status()),
        ("pay", TransactionStatus::Confirmed)
    );
    assert_eq!(
        paid.destination_wallet_id,
        Some(settings.default_wallet_id.clone())
    );
    assert_eq!(
        bed.balance(&settings.default_wallet_id).await,
        ["usd 4.5 4.5 0 0"]
    );
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_locked_wallet_accepts_nothing(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let (wallet, other) = (bed.funded("100").await, bed.funded("100").await);
    let pending = bed.withdraw(&wallet, "10").await.unwrap();
    bed.lock(&wallet, true).await;
    for refusal in [
        bed.deposit(&wallet, "1", "usd").await,
        bed.withdraw(&wallet, "1").await,
        bed.transfer(&wallet, &other, "1", true).await,
        bed.transfer(&other, &wallet, "1", false).await,
        bed.approve(&pending.id).await,
        bed.confirm(&pending.id).await,
    ] {
        assert_eq!(refused(refusal).0, Code::WalletLocked);
    }
    bed.fail(&pending.id).await.unwrap();
    bed.lock(&wallet, false).await;
    bed.transfer(&wallet, &other, "100", true).await.unwrap();
    assert_eq!(
        bed.events(&wallet).await,
        ["WalletCreated", "WalletLocked", "WalletUnlocked"]
    );

    bed.execute(
        "update wallet.assets set enabled = false, version = version + 1 where code = 'usd'",
    )
    .await;
    let refusal = bed.transfer(&other, &wallet, "1", true).await;
    assert_eq!(refused(refusal).0, Code::AssetDisabled);
    let self_transfer = transfer(&other, &other.to_uppercase(), "1", true);
    let refusal = result(bed.transactions().create_transfer(self_transfer).await);
    assert_eq!(refused(refusal).1, ["destinationWalletId"]);
    bed.end().await;
}
