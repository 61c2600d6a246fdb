//! Tax rates: bodies, refusals, patches, deletes, and what they do to products.

use platform::error::Code;
use prost_types::FieldMask;
use proto::catalog::v1 as wire;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::harness::{Catalog, admin, invalid, new_product, refusal};

fn update(id: &str, paths: &[&str]) -> wire::UpdateTaxRateRequest {
    wire::UpdateTaxRateRequest {
        id: id.into(),
        update_mask: Some(FieldMask {
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        }),
        ..wire::UpdateTaxRateRequest::default()
    }
}

fn delete(id: &str) -> wire::DeleteTaxRateRequest {
    wire::DeleteTaxRateRequest { id: id.into() }
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_tax_rate_comes_back_as_it_was_written(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let created = catalog.tax_rate("10.75").await;
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
    }
    "#);
    let get = wire::GetTaxRateRequest {
        id: created.id.to_uppercase(),
    };
    let read = catalog.tax_rates.get_tax_rate(admin(get)).await.unwrap();
    assert_eq!(read.into_inner().tax_rate.unwrap(), created);
    assert_eq!(
        catalog.events(&created.id).await,
        [("TaxRateChanged".into(), 1)]
    );
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn what_is_not_valid_is_named(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    for (name, rate, fault) in [
        ("", "1", ("name", "required")),
        ("x", "", ("rate", "required")),
        ("x", "1e1", ("rate", "format")),
        ("x", "-1", ("rate", "format")),
        ("x", "100.00000001", ("rate", "range")),
        ("x", "0.000000001", ("rate", "precision")),
    ] {
        let (name, rate) = (name.into(), rate.into());
        let request = wire::CreateTaxRateRequest { name, rate };
        let refused = refusal(catalog.tax_rates.create_tax_rate(admin(request)).await);
        assert_eq!(refused, invalid(fault.0, fault.1));
    }
    let tax_rate = catalog.tax_rate("20").await;
    let refused = catalog
        .tax_rates
        .update_tax_rate(admin(update(&tax_rate.id, &["rate"])))
        .await;
    assert_eq!(refusal(refused), invalid("rate", "type"));
    let empty = catalog
        .tax_rates
        .update_tax_rate(admin(update(&tax_rate.id, &[])))
        .await;
    assert_eq!(empty.unwrap().into_inner().tax_rate.unwrap(), tax_rate);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_change_shows_in_products_at_once(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let (category, tax_rate) = (
        catalog.category("Shoes").await,
        catalog.tax_rate("20").await,
    );
    let mut request = new_product(&category);
    request.tax_rate_id = Some(tax_rate.id.clone());
    let product = catalog.product(request).await;
    assert_eq!(product.tax_amount, "2.00000000");

    let mut request = update(&tax_rate.id, &["rate"]);
    request.rate = Some("5.25".into());
    catalog
        .tax_rates
        .update_tax_rate(admin(request))
        .await
        .unwrap();
    let read = catalog.get_product(&product.id).await.unwrap();
    assert_eq!(
        (read.tax_amount, read.price_with_tax),
        ("0.53000000".into(), "10.53000000".into())
    );
    assert_eq!(read.updated_at, product.updated_at);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_tax_rate_in_use_stays(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let (category, tax_rate) = (
        catalog.category("Shoes").await,
        catalog.tax_rate("20").await,
    );
    let mut request = new_product(&category);
    request.tax_rate_id = Some(tax_rate.id.clone());
    let product = catalog.product(request.clone()).await;
    let refused = refusal(
        catalog
            .tax_rates
            .delete_tax_rate(admin(delete(&tax_rate.id)))
            .await,
    );
    assert_eq!(refused.0, Code::TaxRateInUse);

    let without = wire::UpdateProductRequest {
        id: product.id.clone(),
        update_mask: Some(FieldMask {
            paths: vec!["tax_rate_id".into()],
        }),
        ..wire::UpdateProductRequest::default()
    };
    let changed = catalog
        .products
        .update_product(admin(without))
        .await
        .unwrap();
    let changed = changed.into_inner().product.unwrap();
    assert_eq!(
        (changed.tax_rate_id, changed.tax_amount),
        (None, "0.00000000".into())
    );
    catalog
        .tax_rates
        .delete_tax_rate(admin(delete(&tax_rate.id)))
        .await
        .unwrap();
    for id in [tax_rate.id.as_str(), "x"] {
        let again = refusal(catalog.tax_rates.delete_tax_rate(admin(delete(id))).await);
        assert_eq!(again.0, Code::TaxRateNotFound);
    }
    let refused = refusal(catalog.products.create_product(admin(request)).await);
    assert_eq!(refused, invalid("taxRateId", "unknown_reference"));
}
