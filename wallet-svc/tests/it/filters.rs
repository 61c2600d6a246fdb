//! Filters and sort fields of wallets, assets and activity.

use proto::{
    common::v1::{ListRequest, Operator},
    wallet::v1 as wire,
};
use sqlx::PgPool;

use crate::harness::{ANN, BEN, TestApp, equals, filter, list, mask, result, sort};

async fn wallets(app: &TestApp, list: ListRequest) -> Vec<wire::Wallet> {
    let request = wire::ListWalletsRequest { list: Some(list) };
    let page = result(app.admin.wallets().list_wallets(request).await).unwrap();
    page.wallets
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn wallets_are_filtered_by_field(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (app.new_wallet().await, app.new_wallet().await);
    app.set_owner(&a, ANN).await;
    app.lock(&a, true).await;
    let rename = wire::UpdateWalletRequest {
        id: b.clone(),
        name: Some("Savings".to_owned()),
        update_mask: Some(mask(&["name"])),
        ..wire::UpdateWalletRequest::default()
    };
    app.admin.wallets().update_wallet(rename).await.unwrap();
    let all = wallets(&app, ListRequest::default()).await;
    assert_eq!(all.len(), 3, "with the default wallet");
    let of_b = all.iter().find(|wallet| wallet.id == b).unwrap();
    for (filter, expected) in [
        (equals("id", &a), Some(&a)),
        (equals("ownerId", ANN), Some(&a)),
        (equals("ownerId", BEN), None),
        (equals("locked", "true"), Some(&a)),
        (equals("reference", &of_b.reference), Some(&b)),
        (filter("name", Operator::Ilike, "%saving%"), Some(&b)),
        (filter("createdAt", Operator::Gt, "2126-01-01"), None),
    ] {
        let found = wallets(&app, list(vec![filter.clone()])).await;
        let found = found.iter().map(|wallet| &wallet.id);
        assert!(found.eq(expected), "{filter:?}");
    }
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn assets_are_filtered_and_sorted(pool: PgPool) {
    let app = TestApp::new(pool).await;
    app.enable("eur", false).await;
    let codes = async |list: ListRequest| {
        let request = wire::ListAssetsRequest { list: Some(list) };
        let page = result(app.admin.assets().list_assets(request).await).unwrap();
        assert_eq!(page.page.unwrap().total, page.assets.len() as u64);
        page.assets
            .into_iter()
            .map(|asset| asset.code)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        codes(ListRequest::default()).await,
        ["btc", "eur", "points", "usd"]
    );
    for (filter, expected) in [
        (equals("code", "USD"), &["usd"][..]),
        (equals("type", "fiat"), &["eur", "usd"]),
        (equals("enabled", "false"), &["eur"]),
        (equals("system", "false"), &[]),
        (filter("name", Operator::Like, "%coin%"), &["btc"]),
    ] {
        assert_eq!(
            codes(list(vec![filter.clone()])).await,
            expected,
            "{filter:?}"
        );
    }
    let sorted = ListRequest {
        sort: vec![sort("type", true), sort("code", true)],
        ..ListRequest::default()
    };
    assert_eq!(codes(sorted).await, ["usd", "eur", "points", "btc"]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn activity_is_filtered_and_sorted(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (app.funded_wallet("10").await, app.new_wallet().await);
    app.transfer(&a, &b, "3", true).await.unwrap();
    app.withdraw(&a, "1").await.unwrap();
    let amounts = async |list: ListRequest| {
        let request = wire::ListActivityRequest {
            list: Some(list),
            wallet_id: None,
        };
        let page = result(app.admin.transactions().list_activity(request).await).unwrap();
        let entries = page.activities.into_iter();
        entries
            .map(|entry| entry.transaction.unwrap().amount)
            .collect::<Vec<_>>()
    };
    let by_amount = |filters| ListRequest {
        sort: vec![sort("amount", true)],
        ..list(filters)
    };
    let all = ["10.00000000", "3.00000000", "1.00000000"];
    assert_eq!(amounts(by_amount(vec![])).await, all);
    for (filter, expected) in [
        (equals("type", "transfer"), &all[1..2]),
        (equals("status", "confirmed"), &all[..2]),
        (equals("code", "bank:wire"), &all[2..]),
        (equals("assetCode", "EUR"), &[]),
    ] {
        let found = amounts(by_amount(vec![filter.clone()])).await;
        assert_eq!(found, expected, "{filter:?}");
    }
    app.finish().await;
}
