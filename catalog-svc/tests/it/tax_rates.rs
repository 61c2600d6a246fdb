//! Tax rates: bodies, rejections, patches, deletions, and the tax of products.

use platform::error::Code;
use proto::catalog::v1 as wire;
use sqlx::PgPool;

use crate::harness::{TestApp, invalid, mask, new_product, rejection};

fn update(id: &str, paths: &[&str]) -> wire::UpdateTaxRateRequest {
    wire::UpdateTaxRateRequest {
        id: id.into(),
        update_mask: Some(mask(paths)),
        ..wire::UpdateTaxRateRequest::default()
    }
}

fn delete(id: &str) -> wire::DeleteTaxRateRequest {
    wire::DeleteTaxRateRequest { id: id.into() }
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_tax_rate_reads_as_written(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let created = app.tax_rate("10.75").await;
    insta::assert_debug_snapshot!(created, @r#"
    TaxRate {
        id: "018bcfe5-6800-710a-adec-89025cc10000",
        name: "10.75 percent",
        rate: "10.75000000",
        created_at: Some(
            Timestamp {
                seconds: 1769853600,
                nanos: 0,
            },
        ),
        updated_at: Some(
            Timestamp {
                seconds: 1769853600,
                nanos: 0,
            },
        ),
        version: 1,
    }
    "#);
    let get = wire::GetTaxRateRequest {
        id: created.id.to_uppercase(),
    };
    let read = app.admin.tax_rates().get_tax_rate(get).await.unwrap();
    assert_eq!(read.into_inner().tax_rate.unwrap(), created);
    assert_eq!(app.event_types(&created.id).await, ["TaxRateChanged"]);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn invalid_fields_are_named(pool: PgPool) {
    let app = TestApp::new(pool).await;
    for (name, rate, expected) in [
        ("", "1", invalid("name", "required")),
        ("x", "", invalid("rate", "required")),
        ("x", "1e1", invalid("rate", "format")),
        ("x", "-1", invalid("rate", "format")),
        ("x", "100.00000001", invalid("rate", "range")),
        ("x", "0.000000001", invalid("rate", "precision")),
    ] {
        let (name, rate) = (name.into(), rate.into());
        let request = wire::CreateTaxRateRequest { name, rate };
        let rejected = rejection(app.admin.tax_rates().create_tax_rate(request).await);
        assert_eq!(rejected, expected);
    }
    let tax_rate = app.tax_rate("20").await;
    let rejected = app
        .admin
        .tax_rates()
        .update_tax_rate(update(&tax_rate.id, &["rate"]))
        .await;
    assert_eq!(rejection(rejected), invalid("rate", "required"));
    let empty = app
        .admin
        .tax_rates()
        .update_tax_rate(update(&tax_rate.id, &[]))
        .await;
    assert_eq!(empty.unwrap().into_inner().tax_rate.unwrap(), tax_rate);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_changed_rate_changes_the_tax_of_products(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (category, tax_rate) = (app.category("Shoes").await, app.tax_rate("20").await);
    let mut request = new_product(&category);
    request.tax_rate_id = Some(tax_rate.id.clone());
    let product = app.product(request).await;
    assert_eq!(product.tax_amount, "2.00000000");

    let mut request = update(&tax_rate.id, &["rate"]);
    request.rate = Some("5.25".into());
    app.admin
        .tax_rates()
        .update_tax_rate(request)
        .await
        .unwrap();
    let read = app.get_product(&product.id).await.unwrap();
    assert_eq!(
        (read.tax_amount, read.price_with_tax),
        ("0.53000000".into(), "10.53000000".into())
    );
    assert_eq!(read.updated_at, product.updated_at);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_tax_rate_in_use_cannot_be_deleted(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (category, tax_rate) = (app.category("Shoes").await, app.tax_rate("20").await);
    let mut request = new_product(&category);
    request.tax_rate_id = Some(tax_rate.id.clone());
    let product = app.product(request.clone()).await;
    let rejected = rejection(
        app.admin
            .tax_rates()
            .delete_tax_rate(delete(&tax_rate.id))
            .await,
    );
    assert_eq!(rejected.code, Code::TaxRateInUse);

    let without = wire::UpdateProductRequest {
        id: product.id.clone(),
        update_mask: Some(mask(&["tax_rate_id"])),
        ..wire::UpdateProductRequest::default()
    };
    let changed = app.admin.products().update_product(without).await.unwrap();
    let changed = changed.into_inner().product.unwrap();
    assert_eq!(
        (changed.tax_rate_id, changed.tax_amount),
        (None, "0.00000000".into())
    );
    app.admin
        .tax_rates()
        .delete_tax_rate(delete(&tax_rate.id))
        .await
        .unwrap();
    for id in [tax_rate.id.as_str(), "x"] {
        let again = rejection(app.admin.tax_rates().delete_tax_rate(delete(id)).await);
        assert_eq!(again.code, Code::TaxRateNotFound);
    }
    let rejected = rejection(app.admin.products().create_product(request).await);
    assert_eq!(rejected, invalid("taxRateId", "unknown_reference"));
}
