//! What `AssetChanged` changes.

use catalog_svc::{clients::wallet::Wallet, consumers::asset_changed::FollowAssets};
use platform::grpc::client;
use proto::{catalog::v1 as wire, events::v1::AssetChanged};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::harness::{Catalog, new_product};

fn usd(version: i64, decimal_places: u32, enabled: bool) -> AssetChanged {
    AssetChanged {
        asset_code: "usd".into(),
        version,
        r#type: "fiat".into(),
        decimal_places,
        enabled,
    }
}

fn follow(catalog: &Catalog) -> (FollowAssets, Wallet) {
    let address = format!("http://{}", catalog.wallet.address);
    let wallet = Wallet::new(&client::connect("wallet", &address, None).unwrap());
    (FollowAssets(wallet.clone()), wallet)
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn taxes_follow_the_decimals_of_their_asset(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let (category, tax_rate) = (
        catalog.category("Shoes").await,
        catalog.tax_rate("5.555").await,
    );
    let mut request = new_product(&category);
    request.tax_rate_id = Some(tax_rate.id);
    let product = catalog.product(request.clone()).await;
    assert_eq!(product.tax_amount, "0.56000000");

    let (follow, _) = follow(&catalog);
    let mut conn = catalog.pool.acquire().await.unwrap();
    for (event, tax) in [
        (usd(2, 4, true), "0.55550000"),
        (usd(1, 2, true), "0.55550000"),
        (usd(3, 3, true), "0.55600000"),
    ] {
        follow.handle(&mut conn, event).await.unwrap();
        let read = catalog.get_product(&product.id).await.unwrap();
        assert_eq!(read.tax_amount, tax);
    }

    // What wallet-svc answered to a write is no newer than what it told.
    catalog.product(request).await;
    let read = catalog.get_product(&product.id).await.unwrap();
    assert_eq!(read.tax_amount, "0.55600000");
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn writes_know_at_once_whether_an_asset_is_enabled(
    pool: PgPoolOptions,
    server: PgConnectOptions,
) {
    let catalog = Catalog::start(pool, server).await;
    let (follow, wallet) = follow(&catalog);
    assert!(wallet.find_asset("usd").await.unwrap().unwrap().enabled);
    let mut conn = catalog.pool.acquire().await.unwrap();
    follow.handle(&mut conn, usd(7, 2, false)).await.unwrap();
    let known = wallet.find_asset("USD").await.unwrap().unwrap();
    assert!(!known.enabled);
    follow.handle(&mut conn, usd(6, 2, true)).await.unwrap();
    assert_eq!(wallet.find_asset("usd").await.unwrap().unwrap(), known);
    assert_eq!(catalog.wallet.asked(), ["usd"]);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn an_asset_that_nobody_used_is_only_remembered(
    pool: PgPoolOptions,
    server: PgConnectOptions,
) {
    let mut catalog = Catalog::start(pool, server).await;
    let (follow, _) = follow(&catalog);
    let mut conn = catalog.pool.acquire().await.unwrap();
    let event = AssetChanged {
        asset_code: "btc".into(),
        ..usd(1, 8, true)
    };
    follow.handle(&mut conn, event).await.unwrap();
    let category = catalog.category("Shoes").await;
    let request = wire::CreateProductRequest {
        asset_code: Some("BTC".into()),
        price: "0.00000001".into(),
        ..new_product(&category)
    };
    assert_eq!(catalog.product(request).await.asset_code, "btc");
    let wrong = usd(1, 9, true);
    assert!(follow.handle(&mut conn, wrong).await.is_err());
}
