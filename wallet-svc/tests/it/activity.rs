//! Activity: transactions with their wallets and the wallets' owners.

use platform::error::Code;
use proto::wallet::v1 as wire;
use sqlx::PgPool;

use crate::harness::{ANN, BEN, TestApp, including, rejection, result, serve_users, stable};

fn activity(wallet: Option<&str>, include: &[&str]) -> wire::ListActivityRequest {
    wire::ListActivityRequest {
        list: Some(including(include)),
        wallet_id: wallet.map(str::to_owned),
    }
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn activity_includes_only_visible_wallets(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (app.funded_wallet("10").await, app.new_wallet().await);
    app.set_owner(&a, ANN).await;
    let sent = app.transfer(&a, &b, "1", false).await.unwrap();
    let of_b = activity(Some(&b), &["wallets"]);
    let page = result(app.admin.transactions().list_activity(of_b).await).unwrap();
    assert_eq!(page.page.unwrap().total, 1);
    let [entry] = &page.activities[..] else {
        panic!("one entry")
    };
    assert_eq!(entry.transaction.as_ref(), Some(&sent));
    assert_eq!(entry.origin_wallet.as_ref().unwrap().id, a);
    assert_eq!(entry.destination_wallet.as_ref().unwrap().id, b);
    assert_eq!(entry.origin_wallet_user, None);

    let mut ann = app.as_user(ANN).transactions();
    let own = result(ann.list_activity(activity(None, &["wallets"])).await).unwrap();
    assert_eq!(own.page.unwrap().total, 2);
    assert!(own.activities[0].origin_wallet.is_some());
    assert_eq!(own.activities[0].destination_wallet, None);
    let foreign = result(ann.list_activity(activity(Some(&b), &[])).await);
    assert_eq!(rejection(foreign).code, Code::WalletNotFound);
    let unknown = result(ann.list_activity(activity(None, &["lines"])).await);
    assert_eq!(rejection(unknown).code, Code::InvalidQuery);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn activity_includes_the_owners_of_wallets(pool: PgPool) {
    let identity = serve_users(&[ANN]).await;
    let app = TestApp::with_flags(pool, &["--identity-grpc-url", &identity]).await;
    let (a, b, c) = (
        app.funded_wallet("10").await,
        app.new_wallet().await,
        app.new_wallet().await,
    );
    app.set_owner(&a, ANN).await;
    // A user whom identity-svc does not know.
    app.set_owner(&b, BEN).await;
    app.transfer(&a, &b, "1", true).await.unwrap();
    app.transfer(&a, &c, "2", true).await.unwrap();
    let of_b = activity(Some(&b), &["users", "wallets"]);
    let page = result(app.admin.transactions().list_activity(of_b).await).unwrap();
    let names = [(&*a, "<a>"), (&*b, "<b>"), (ANN, "<ann>"), (BEN, "<ben>")];
    insta::assert_snapshot!(stable(&page.activities, &names), @r#"
    [
        Activity {
            transaction: Some(
                Transaction {
                    id: "<id>",
                    r#type: Transfer,
                    code: "internal",
                    status: Confirmed,
                    asset_code: "usd",
                    amount: "1.00000000",
                    description: None,
                    origin_wallet_id: Some("<a>"),
                    destination_wallet_id: Some("<b>"),
                    origin_address: None,
                    destination_address: None,
                    external_id: None,
                    external_reference: None,
                    reference: <reference>,
                    custom_data: "{}",
                    metadata: "{}",
                    processed_at: Some(<time>),
                    created_at: Some(<time>),
                    updated_at: Some(<time>),
                },
            ),
            origin_wallet: Some(
                ActivityWallet {
                    id: "<a>",
                    name: None,
                    owner_id: Some("<ann>"),
                    reference: <reference>,
                },
            ),
            destination_wallet: Some(
                ActivityWallet {
                    id: "<b>",
                    name: None,
                    owner_id: Some("<ben>"),
                    reference: <reference>,
                },
            ),
            origin_wallet_user: Some(
                ActivityUser {
                    id: "<ann>",
                    name: Some("Ann"),
                    email: "<ann>@example.com",
                },
            ),
            destination_wallet_user: None,
        },
    ]
    "#);

    let users = activity(None, &["users"]);
    let page = result(app.admin.transactions().list_activity(users).await).unwrap();
    let [to_c, to_b, deposit] = &page.activities[..] else {
        panic!("three entries")
    };
    for entry in [to_c, to_b] {
        assert_eq!(entry.origin_wallet, None);
        assert_eq!(entry.origin_wallet_user.as_ref().unwrap().id, ANN);
        assert_eq!(entry.destination_wallet_user, None);
    }
    assert_eq!(deposit.origin_wallet_user, None);
    assert_eq!(deposit.destination_wallet_user.as_ref().unwrap().id, ANN);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn activity_with_users_needs_identity_svc(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.funded_wallet("10").await;
    app.set_owner(&wallet, ANN).await;
    let mut transactions = app.admin.transactions();
    let users = result(transactions.list_activity(activity(None, &["users"])).await);
    assert_eq!(rejection(users).code, Code::Unavailable);
    let wallets = transactions
        .list_activity(activity(None, &["wallets"]))
        .await;
    assert_eq!(result(wallets).unwrap().activities.len(), 1);
    app.finish().await;
}
