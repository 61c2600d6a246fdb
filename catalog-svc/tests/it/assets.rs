//! The event `AssetChanged`.

use catalog_svc::{clients::wallet::Wallet, consumers::asset_changed::FollowAssets};
use platform::{error::Code, grpc::client, money::DecimalPlaces};
use proto::{catalog::v1 as wire, events::v1::AssetChanged};
use sqlx::PgPool;

use crate::harness::{TestApp, new_product, rejection};

/// Returns the first event of usd.
fn usd() -> AssetChanged {
    AssetChanged {
        asset_code: "usd".into(),
        version: 1,
        r#type: "fiat".into(),
        decimal_places: 2,
        enabled: true,
    }
}

fn follow(app: &TestApp) -> (FollowAssets, Wallet) {
    let address = format!("http://{}", app.wallet.address);
    let wallet = Wallet::new(&client::connect("wallet", &address, None).unwrap());
    (FollowAssets(wallet.clone()), wallet)
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_changed_asset_changes_the_decimals_of_taxes(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (category, tax_rate) = (app.category("Shoes").await, app.tax_rate("5.55555").await);
    let mut request = new_product(&category);
    request.tax_rate_id = Some(tax_rate.id);
    let product = app.product(request.clone()).await;
    assert_eq!(product.tax_amount, "0.56000000");

    let (follow, _) = follow(&app);
    let mut conn = app.pool.acquire().await.unwrap();
    for (version, decimal_places, tax) in [
        (2, 3, "0.55600000"),
        (1, 2, "0.55600000"),
        (3, 4, "0.55560000"),
    ] {
        let event = AssetChanged {
            version,
            decimal_places,
            ..usd()
        };
        follow.handle(&mut conn, event).await.unwrap();
        let read = app.get_product(&product.id).await.unwrap();
        assert_eq!(read.tax_amount, tax);
    }

    // A response may be older than the event, or newer: decimals are never lowered.
    for (decimal_places, tax) in [(2, "0.55560000"), (6, "0.55555500")] {
        app.wallet
            .change("usd", |usd| usd.decimal_places = decimal_places);
        app.product(request.clone()).await;
        let read = app.get_product(&product.id).await.unwrap();
        assert_eq!(read.tax_amount, tax);
    }
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn an_event_replaces_the_last_response(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (follow, wallet) = follow(&app);
    assert_eq!(wallet.find_asset("usd").await.unwrap().unwrap().code, "usd");
    app.wallet.set_available(false);
    let mut conn = app.pool.acquire().await.unwrap();
    let changed = AssetChanged {
        version: 7,
        decimal_places: 4,
        ..usd()
    };
    follow.handle(&mut conn, changed).await.unwrap();
    let last = wallet.find_asset("USD").await.unwrap().unwrap();
    assert_eq!(last.decimal_places, DecimalPlaces::new(4).unwrap());
    let older = AssetChanged {
        version: 6,
        ..usd()
    };
    follow.handle(&mut conn, older).await.unwrap();
    assert_eq!(wallet.find_asset("usd").await.unwrap().unwrap(), last);

    // It may be enabled again by now: nothing is refused that wallet-svc did not refuse.
    let disabled = AssetChanged {
        version: 8,
        enabled: false,
        ..usd()
    };
    follow.handle(&mut conn, disabled).await.unwrap();
    let failure = wallet.find_asset("usd").await.unwrap_err();
    assert_eq!(failure.code, Code::Unavailable);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn an_asset_is_checked_as_it_is_when_written(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let category = app.category("Shoes").await;
    for enabled in [true, false, true, false, true] {
        app.wallet.change("usd", |usd| usd.enabled = enabled);
        let created = app
            .admin
            .products()
            .create_product(new_product(&category))
            .await;
        if enabled {
            created.unwrap();
        } else {
            assert_eq!(rejection(created).code, Code::AssetDisabled);
        }
    }
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn an_event_of_an_unused_asset_is_stored(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (follow, _) = follow(&app);
    let mut conn = app.pool.acquire().await.unwrap();
    let event = AssetChanged {
        asset_code: "btc".into(),
        decimal_places: 8,
        ..usd()
    };
    follow.handle(&mut conn, event).await.unwrap();
    let category = app.category("Shoes").await;
    let request = wire::CreateProductRequest {
        asset_code: Some("BTC".into()),
        price: "0.00000001".into(),
        ..new_product(&category)
    };
    assert_eq!(app.product(request).await.asset_code, "btc");
    let invalid = AssetChanged {
        decimal_places: 9,
        ..usd()
    };
    assert!(follow.handle(&mut conn, invalid).await.is_err());
}
