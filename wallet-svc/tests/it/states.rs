//! The status of transactions, and the balances in each status.

use platform::error::Code;
use proto::wallet::v1::{self as wire, TransactionStatus};
use sqlx::PgPool;

use crate::harness::{
    Rejection, TestApp, UNKNOWN, deposit, payment, rejection, result, transfer, usd,
};

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_deposit_changes_the_balance_when_it_is_confirmed(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.new_wallet().await;
    assert!(app.balances(&wallet).await.is_empty());

    let deposit = app.deposit(&wallet, "100.00", "USD").await.unwrap();
    assert_eq!(deposit.status(), TransactionStatus::Pending);
    assert_eq!(
        (&*deposit.asset_code, &*deposit.amount),
        ("usd", "100.00000000")
    );
    assert_eq!(deposit.origin_wallet_id, None);
    assert_eq!(deposit.metadata, r#"{"data":{}}"#);
    assert_eq!(app.balances(&wallet).await, [usd("0").incoming("100")]);

    let approved = app.approve(&deposit.id).await.unwrap();
    assert_eq!(approved.status(), TransactionStatus::Processing);
    assert_eq!(approved.processed_at, None);
    let confirmed = app.confirm(&deposit.id).await.unwrap();
    assert_eq!(confirmed.status(), TransactionStatus::Confirmed);
    assert!(confirmed.processed_at.is_some());
    assert_eq!(app.balances(&wallet).await, [usd("100")]);

    let read = wire::GetTransactionRequest {
        id: deposit.id.to_uppercase(),
    };
    let read = result(app.admin.transactions().get_transaction(read).await).unwrap();
    assert_eq!(read.transaction.unwrap(), confirmed);
    assert_eq!(
        app.event_types(&deposit.id).await,
        [
            "TransactionCreated",
            "TransactionApproved",
            "TransactionConfirmed"
        ]
    );
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_final_status_cannot_change(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.funded_wallet("100").await;
    let (confirmed, failed, rejected, processing) = (
        app.withdraw(&wallet, "1").await.unwrap().id,
        app.withdraw(&wallet, "2").await.unwrap().id,
        app.withdraw(&wallet, "3").await.unwrap().id,
        app.withdraw(&wallet, "4").await.unwrap().id,
    );
    app.confirm(&confirmed).await.unwrap();
    let failure = app.fail(&failed).await.unwrap();
    assert_eq!(failure.metadata, r#"{"failReason":"no answer"}"#);
    assert_eq!(
        app.reject(&rejected).await.unwrap().status(),
        TransactionStatus::Rejected
    );
    app.approve(&processing).await.unwrap();
    assert_eq!(
        app.balances(&wallet).await,
        [usd("99").available("95").held("4")]
    );
    for id in [&confirmed, &failed, &rejected] {
        for again in [
            app.approve(id).await,
            app.confirm(id).await,
            app.fail(id).await,
            app.reject(id).await,
        ] {
            assert_eq!(rejection(again), Rejection::new(Code::InvalidState, &[]));
        }
    }
    assert_eq!(
        rejection(app.reject(&processing).await).code,
        Code::InvalidState
    );
    assert_eq!(
        rejection(app.approve(&processing).await).code,
        Code::InvalidState
    );
    app.fail(&processing).await.unwrap();
    assert_eq!(app.balances(&wallet).await, [usd("99")]);
    for id in [UNKNOWN, "x"] {
        assert_eq!(
            rejection(app.confirm(id).await).code,
            Code::TransactionNotFound
        );
    }
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn debits_are_held_from_creation(pool: PgPool) {
    let mut app = TestApp::new(pool).await;
    let (wallet, other) = (app.funded_wallet("100").await, app.new_wallet().await);
    let held = app.withdraw(&wallet, "100").await.unwrap();
    assert_eq!(
        app.balances(&wallet).await,
        [usd("100").available("0").held("100")]
    );
    for rejected in [
        app.withdraw(&wallet, "100").await,
        app.transfer(&wallet, &other, "0.01", true).await,
        app.transfer(&wallet, &other, "0.01", false).await,
    ] {
        assert_eq!(
            rejection(rejected),
            Rejection::new(Code::InsufficientFunds, &["amount"])
        );
    }
    // Holds survive a restart.
    app.stop().await;
    app.start(3).await;
    app.reject(&held.id).await.unwrap();
    assert!(app.balances(&other).await.is_empty());
    let pending = app.transfer(&wallet, &other, "60", false).await.unwrap();
    assert_eq!(
        app.balances(&wallet).await,
        [usd("100").available("40").held("60")]
    );
    assert_eq!(app.balances(&other).await, [usd("0").incoming("60")]);
    app.confirm(&pending.id).await.unwrap();
    app.transfer(&wallet, &other, "40", true).await.unwrap();
    assert_eq!(app.balances(&wallet).await, [usd("0")]);
    assert_eq!(app.balances(&other).await, [usd("100")]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn commit_skips_the_first_status(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (wallet, other) = (app.funded_wallet("10").await, app.new_wallet().await);
    let moved = app.transfer(&wallet, &other, "3", true).await.unwrap();
    assert_eq!(moved.status(), TransactionStatus::Confirmed);
    assert_eq!(app.event_types(&moved.id).await, ["TransactionConfirmed"]);
    let request = wire::CreateDepositRequest {
        data: r#"{"n": 1.0}"#.to_owned(),
        commit: true,
        ..deposit(&other, "5", "usd")
    };
    let deposit = result(app.admin.transactions().create_deposit(request).await).unwrap();
    let deposit = deposit.transaction.unwrap();
    assert_eq!(deposit.status(), TransactionStatus::Processing);
    assert_eq!(deposit.metadata, r#"{"data":{"n": 1.0}}"#);
    assert_eq!(app.balances(&other).await, [usd("3").incoming("5")]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn payments_go_to_the_default_wallet(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let settings = app.settings().await;
    assert_eq!(
        (&*settings.default_asset_code, &settings.bonus_asset_code),
        ("usd", &None)
    );
    let wallet = app.funded_wallet("10").await;
    let request = payment(&wallet, "4.50");
    let paid = result(app.admin.transactions().create_payment(request).await).unwrap();
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
        app.balances(&settings.default_wallet_id).await,
        [usd("4.5")]
    );
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_locked_wallet_accepts_no_transaction(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (wallet, other) = (
        app.funded_wallet("100").await,
        app.funded_wallet("100").await,
    );
    let pending = app.withdraw(&wallet, "10").await.unwrap();
    app.lock(&wallet, true).await;
    for rejected in [
        app.deposit(&wallet, "1", "usd").await,
        app.withdraw(&wallet, "1").await,
        app.transfer(&wallet, &other, "1", true).await,
        app.transfer(&other, &wallet, "1", false).await,
        app.approve(&pending.id).await,
        app.confirm(&pending.id).await,
    ] {
        assert_eq!(rejection(rejected).code, Code::WalletLocked);
    }
    app.fail(&pending.id).await.unwrap();
    app.lock(&wallet, false).await;
    app.transfer(&wallet, &other, "100", true).await.unwrap();
    assert_eq!(
        app.event_types(&wallet).await,
        ["WalletCreated", "WalletLocked", "WalletUnlocked"]
    );

    app.enable("usd", false).await;
    let rejected = app.transfer(&other, &wallet, "1", true).await;
    assert_eq!(rejection(rejected).code, Code::AssetDisabled);
    let self_transfer = transfer(&other, &other.to_uppercase(), "1", true);
    let rejected = result(
        app.admin
            .transactions()
            .create_transfer(self_transfer)
            .await,
    );
    assert_eq!(rejection(rejected).fields, ["destinationWalletId"]);
    app.finish().await;
}
