//! Requests that are repeated with their Idempotency-Key.

use platform::{error::Code, idempotency};
use proto::catalog::v1 as wire;
use sqlx::PgPool;

use crate::harness::{TestApp, empty, keyed, new_category, new_product, rejection};

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_repeated_create_replays_its_response(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let category = app.category("Shoes").await;
    let request = || keyed(new_product(&category), "POST /products", "aa");
    let first = app
        .admin
        .products()
        .create_product(request())
        .await
        .unwrap();
    assert!(!idempotency::is_replay(first.metadata()));
    let again = app
        .admin
        .products()
        .create_product(request())
        .await
        .unwrap();
    assert!(idempotency::is_replay(again.metadata()));
    assert_eq!(again.into_inner(), first.into_inner());

    let other = keyed(new_product(&category), "POST /products", "bb");
    let rejected = rejection(app.admin.products().create_product(other).await);
    assert_eq!(rejected.code, Code::IdempotencyKeyReused);
    let list = app.admin.products().list_products(empty()).await.unwrap();
    assert_eq!(list.into_inner().page.unwrap().total, 1);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_replay_asks_no_other_service(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let category = app.category("Shoes").await;
    let product = |hash| keyed(new_product(&category), "POST /products", hash);
    let line = wire::ImportLine {
        line: 1,
        product: Some(new_product(&category)),
    };
    let import = |hash| {
        let request = wire::ImportProductsRequest {
            lines: vec![line.clone()],
            ..Default::default()
        };
        keyed(request, "POST /products/import", hash)
    };
    let mut products = app.admin.products();
    let created = products.create_product(product("aa")).await.unwrap();
    let imported = products.import_products(import("aa")).await.unwrap();

    let replays = async || {
        let mut products = app.admin.products();
        let again = products.create_product(product("aa")).await.unwrap();
        assert!(idempotency::is_replay(again.metadata()));
        assert_eq!(again.get_ref(), created.get_ref());
        let again = products.import_products(import("aa")).await.unwrap();
        assert!(idempotency::is_replay(again.metadata()));
        assert_eq!(again.get_ref(), imported.get_ref());

        let reused = products.create_product(product("bb")).await;
        assert_eq!(rejection(reused).code, Code::IdempotencyKeyReused);
        let reused = products.import_products(import("bb")).await;
        assert_eq!(rejection(reused).code, Code::IdempotencyKeyReused);
    };
    app.wallet.change("usd", |usd| usd.enabled = false);
    replays().await;
    app.wallet.set_available(false);
    replays().await;
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_rejected_request_can_be_repeated_with_its_key(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let category = app.category("Shoes").await;
    let mut wrong = new_product(&category);
    wrong.price = "1.005".into();
    let rejected = app
        .admin
        .products()
        .create_product(keyed(wrong, "POST /products", "aa"))
        .await;
    assert_eq!(rejection(rejected).code, Code::AmountPrecision);
    let right = keyed(new_product(&category), "POST /products", "aa");
    let created = app.admin.products().create_product(right).await.unwrap();
    assert!(!idempotency::is_replay(created.metadata()));
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn categories_and_tax_rates_replay_too(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let keyed_category = || keyed(new_category("Shoes"), "POST /categories", "aa");
    let first = app
        .admin
        .categories()
        .create_category(keyed_category())
        .await
        .unwrap();
    let again = app
        .admin
        .categories()
        .create_category(keyed_category())
        .await
        .unwrap();
    assert!(idempotency::is_replay(again.metadata()));
    assert_eq!(again.into_inner(), first.into_inner());

    let rate = || {
        let (name, rate) = ("VAT".into(), "20".into());
        keyed(
            wire::CreateTaxRateRequest { name, rate },
            "POST /tax-rates",
            "aa",
        )
    };
    let first = app.admin.tax_rates().create_tax_rate(rate()).await.unwrap();
    let again = app.admin.tax_rates().create_tax_rate(rate()).await.unwrap();
    assert!(idempotency::is_replay(again.metadata()));
    assert_eq!(again.into_inner(), first.into_inner());
}

/// The key comes first: bodies, ids and states are of no interest if it was used with another body.
#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_used_key_is_refused_whatever_else_is_wrong(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let category = app.category("Shoes").await;
    let mut products = app.admin.products();
    let used = keyed(new_product(&category), "POST /products", "aa");
    products.create_product(used).await.unwrap();

    let invalid = || {
        let mut invalid = new_product(&category);
        invalid.price = "much".into();
        invalid
    };
    let other = keyed(invalid(), "POST /products", "bb");
    let rejected = rejection(products.create_product(other).await);
    assert_eq!(rejected.code, Code::IdempotencyKeyReused);
    // Another caller's key, and another route's, are other keys.
    let other = keyed(invalid(), "POST /other", "bb");
    let rejected = rejection(products.create_product(other).await);
    assert_eq!(rejected, crate::harness::invalid("price", "format"));
    let other = keyed(invalid(), "POST /products", "bb");
    let rejected = rejection(app.user.products().create_product(other).await);
    assert_eq!(rejected.code, Code::Forbidden);
}
