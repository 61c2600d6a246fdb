//! One effect per Idempotency-Key, on each create.

use platform::{error::Code, idempotency};
use proto::catalog::v1 as wire;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::harness::{Catalog, admin, keyed, new_product, refusal};

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_key_has_one_effect(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let category = catalog.category("Shoes").await;
    let request = || keyed(new_product(&category), "POST /products", "aa");
    let first = catalog.products.create_product(request()).await.unwrap();
    assert!(!idempotency::is_replay(first.metadata()));
    let again = catalog.products.create_product(request()).await.unwrap();
    assert!(idempotency::is_replay(again.metadata()));
    assert_eq!(again.into_inner(), first.into_inner());

    let other = keyed(new_product(&category), "POST /products", "bb");
    let refused = refusal(catalog.products.create_product(other).await);
    assert_eq!(refused.0, Code::IdempotencyKeyReused);
    let list = catalog
        .products
        .list_products(admin(Default::default()))
        .await
        .unwrap();
    assert_eq!(list.into_inner().page.unwrap().total, 1);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_refusal_is_judged_afresh(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let category = catalog.category("Shoes").await;
    let mut wrong = new_product(&category);
    wrong.price = "1.005".into();
    let refused = catalog
        .products
        .create_product(keyed(wrong, "POST /products", "aa"))
        .await;
    assert_eq!(refusal(refused).0, Code::AmountPrecision);
    let right = keyed(new_product(&category), "POST /products", "aa");
    let created = catalog.products.create_product(right).await.unwrap();
    assert!(!idempotency::is_replay(created.metadata()));
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn categories_and_tax_rates_keep_keys_too(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let category = || wire::CreateCategoryRequest {
        title: "Shoes".into(),
        ..Default::default()
    };
    let keyed_category = || keyed(category(), "POST /categories", "aa");
    let first = catalog
        .categories
        .create_category(keyed_category())
        .await
        .unwrap();
    let again = catalog
        .categories
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
    let first = catalog.tax_rates.create_tax_rate(rate()).await.unwrap();
    let again = catalog.tax_rates.create_tax_rate(rate()).await.unwrap();
    assert!(idempotency::is_replay(again.metadata()));
    assert_eq!(again.into_inner(), first.into_inner());
}
