//! Bodies of the published events.

use proto::{events::v1 as events, wallet::v1 as wire};
use sqlx::PgPool;

use crate::{
    assets::{create, id_of, named},
    harness::{ANN, TestApp, deposit, operation, posting, result, stable, withdrawal},
};

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn wallet_events_have_the_wallet_and_its_version(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let request = wire::CreateWalletRequest {
        owner_id: Some(ANN.to_owned()),
        operation_id: Some("o".to_owned()),
        ..wire::CreateWalletRequest::default()
    };
    let wallet = app.admin.wallets().create_wallet(request).await;
    let wallet = result(wallet).unwrap().wallet.unwrap().id;
    app.lock(&wallet, true).await;
    app.lock(&wallet, false).await;
    let names = [(&*wallet, "<wallet>"), (ANN, "<ann>")];
    let created: events::WalletCreated = app.event(&wallet).await;
    insta::assert_snapshot!(stable(&created, &names), @r#"
    WalletCreated {
        wallet_id: "<wallet>",
        version: 1,
        owner_id: "<ann>",
    }
    "#);
    let locked: events::WalletLocked = app.event(&wallet).await;
    insta::assert_snapshot!(stable(&locked, &names), @r#"
    WalletLocked {
        wallet_id: "<wallet>",
        version: 2,
    }
    "#);
    let unlocked: events::WalletUnlocked = app.event(&wallet).await;
    insta::assert_snapshot!(stable(&unlocked, &names), @r#"
    WalletUnlocked {
        wallet_id: "<wallet>",
        version: 3,
    }
    "#);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_wallet_without_owner_or_a_renamed_one_publishes_no_owner_and_no_change(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.new_wallet().await;
    let created: events::WalletCreated = app.event(&wallet).await;
    assert_eq!(created.owner_id, "");
    let renamed = wire::UpdateWalletRequest {
        id: wallet.clone(),
        name: Some("new".to_owned()),
        update_mask: Some(crate::harness::mask(&["name"])),
        ..wire::UpdateWalletRequest::default()
    };
    app.admin.wallets().update_wallet(renamed).await.unwrap();
    assert_eq!(app.event_types(&wallet).await, ["WalletCreated"]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn transaction_events_summarize_the_transaction(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.funded_wallet("10").await;
    let request = deposit(&wallet, "5", "usd");
    let deposit = app.admin.transactions().create_deposit(request).await;
    let deposit = result(deposit).unwrap().transaction.unwrap().id;
    app.approve(&deposit).await.unwrap();
    app.confirm(&deposit).await.unwrap();
    let names = [(&*wallet, "<wallet>"), (&*deposit, "<deposit>")];
    let created: events::TransactionCreated = app.event(&deposit).await;
    insta::assert_snapshot!(stable(&created, &names), @r#"
    TransactionCreated {
        transaction: Some(
            TransactionSummary {
                transaction_id: "<deposit>",
                version: 1,
                r#type: "deposit",
                code: "internal",
                amount: "5.00000000",
                asset_code: "usd",
                origin_wallet_id: "",
                destination_wallet_id: "<wallet>",
                order_id: "",
            },
        ),
    }
    "#);
    let summary = created.transaction.unwrap();
    let of_version = |version| {
        let summary = summary.clone();
        Some(events::TransactionSummary { version, ..summary })
    };
    let approved: events::TransactionApproved = app.event(&deposit).await;
    assert_eq!(approved.transaction, of_version(2));
    let confirmed: events::TransactionConfirmed = app.event(&deposit).await;
    assert_eq!(confirmed.transaction, of_version(3));
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn failed_and_rejected_withdrawals_are_published(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.funded_wallet("10").await;
    let failed = app.withdraw(&wallet, "1").await.unwrap().id;
    app.fail(&failed).await.unwrap();
    let event: events::TransactionFailed = app.event(&failed).await;
    let names = [(&*wallet, "<wallet>"), (&*failed, "<withdrawal>")];
    insta::assert_snapshot!(stable(&event, &names), @r#"
    TransactionFailed {
        transaction: Some(
            TransactionSummary {
                transaction_id: "<withdrawal>",
                version: 2,
                r#type: "withdrawal",
                code: "bank:wire",
                amount: "1.00000000",
                asset_code: "usd",
                origin_wallet_id: "<wallet>",
                destination_wallet_id: "",
                order_id: "",
            },
        ),
    }
    "#);
    let request = wire::CreateWithdrawalRequest {
        commit: true,
        ..withdrawal(&wallet, "2")
    };
    let committed = app.admin.transactions().create_withdrawal(request).await;
    let committed = result(committed).unwrap().transaction.unwrap().id;
    assert_eq!(app.event_types(&committed).await, ["TransactionCreated"]);
    let rejected = app.withdraw(&wallet, "3").await.unwrap().id;
    app.reject(&rejected).await.unwrap();
    let event: events::TransactionRejected = app.event(&rejected).await;
    let summary = event.transaction.unwrap();
    assert_eq!(summary.version, 2);
    assert_eq!(summary.amount, "3.00000000");
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_posting_of_an_order_publishes_the_order(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (app.funded_wallet("10").await, app.new_wallet().await);
    let post = operation("order:o-1:pay:1", vec![posting(&a, &b, "4")]);
    let posted = result(app.admin.ledger().post(post).await).unwrap();
    let id = &posted.transactions[0].id;
    assert_eq!(app.event_types(id).await, ["TransactionConfirmed"]);
    let confirmed: events::TransactionConfirmed = app.event(id).await;
    let names = [(&*a, "<a>"), (&*b, "<b>")];
    insta::assert_snapshot!(stable(&confirmed, &names), @r#"
    TransactionConfirmed {
        transaction: Some(
            TransactionSummary {
                transaction_id: "<id>",
                version: 1,
                r#type: "transfer",
                code: "pay",
                amount: "4.00000000",
                asset_code: "usd",
                origin_wallet_id: "<a>",
                destination_wallet_id: "<b>",
                order_id: "o-1",
            },
        ),
        created: true,
    }
    "#);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn asset_events_have_what_other_services_need(pool: PgPool) {
    let app = TestApp::new(pool).await;
    create(&app, named("Gold")).await.unwrap();
    let gold = id_of(&app, "Gold").await;
    let created: events::AssetChanged = app.event(&gold).await;
    insta::assert_snapshot!(stable(&created, &[]), @r#"
    AssetChanged {
        asset_code: "Gold",
        version: 1,
        r#type: "custom",
        decimal_places: 8,
        enabled: true,
    }
    "#);
    app.enable("gold", false).await;
    let disabled: events::AssetChanged = app.event(&gold).await;
    let expected = events::AssetChanged {
        version: 2,
        enabled: false,
        ..created
    };
    assert_eq!(disabled, expected);
    let usd: events::AssetChanged = app.event(&id_of(&app, "usd").await).await;
    insta::assert_snapshot!(stable(&usd, &[]), @r#"
    AssetChanged {
        asset_code: "usd",
        version: 1,
        r#type: "fiat",
        decimal_places: 2,
        enabled: true,
    }
    "#);
    app.finish().await;
}
