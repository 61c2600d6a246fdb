//! PATCH of products: absent, null and set for every field.

use chrono::TimeDelta;
use platform::error::Code;
use proto::catalog::v1 as wire;
use sqlx::PgPool;

use crate::harness::{Rejection, TestApp, invalid, mask, new_product, rejection};

/// Creates a product with a value in every field that can be cleared.
async fn full_product(app: &TestApp) -> wire::Product {
    let (category, tax_rate) = (app.category("Shoes").await, app.tax_rate("20").await);
    let some = || Some("x".to_owned());
    let request = wire::CreateProductRequest {
        name: some(),
        description: some(),
        tax_rate_id: Some(tax_rate.id),
        bonus: Some("2".into()),
        button_label: some(),
        list_label: some(),
        url: some(),
        image: some(),
        thumbnail: some(),
        ..new_product(&category)
    };
    app.product(request).await
}

async fn patch(
    app: &TestApp,
    request: wire::UpdateProductRequest,
) -> Result<wire::Product, Rejection> {
    match app.admin.products().update_product(request).await {
        Ok(response) => Ok(response.into_inner().product.unwrap()),
        rejected => Err(rejection(rejected)),
    }
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn an_empty_mask_changes_nothing(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let product = full_product(&app).await;
    app.clock.advance(TimeDelta::hours(1));
    let request = wire::UpdateProductRequest {
        id: product.id.clone(),
        ..Default::default()
    };
    assert_eq!(patch(&app, request).await, Ok(product.clone()));
    assert_eq!(app.event_types(&product.id).await.len(), 1);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn null_clears_optional_fields(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let product = full_product(&app).await;
    let request = wire::UpdateProductRequest {
        id: product.id.clone(),
        update_mask: Some(mask(&[
            "description",
            "tax_rate_id",
            "bonus",
            "button_label",
            "list_label",
            "url",
            "image",
            "thumbnail",
        ])),
        ..Default::default()
    };
    let zero = || "0.00000000".to_owned();
    let cleared = wire::Product {
        description: None,
        tax_rate_id: None,
        tax_amount: zero(),
        price_with_tax: "10.00000000".into(),
        bonus: zero(),
        button_label: None,
        list_label: None,
        url: None,
        image_url: None,
        thumbnail_url: None,
        version: 2,
        ..product.clone()
    };
    assert_eq!(patch(&app, request).await, Ok(cleared.clone()));
    assert_eq!(app.get_product(&product.id).await.unwrap(), cleared);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn null_is_refused_for_required_fields(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let product = full_product(&app).await;
    for (path, field) in [
        ("name", "name"),
        ("category_id", "categoryId"),
        ("asset_code", "assetCode"),
        ("price", "price"),
        ("type", "typeCode"),
        ("available", "available"),
        ("allow_choosing_quantity", "allowChoosingQuantity"),
        ("featured", "featured"),
        ("visible", "visible"),
        ("requires_identity", "requiresIdentity"),
        ("order", "order"),
        ("custom_data", "customData"),
    ] {
        let request = wire::UpdateProductRequest {
            id: product.id.clone(),
            update_mask: Some(mask(&[path])),
            ..Default::default()
        };
        assert_eq!(patch(&app, request).await, Err(invalid(field, "required")));
    }
    let request = wire::UpdateProductRequest {
        id: product.id.clone(),
        update_mask: Some(mask(&["prise"])),
        ..Default::default()
    };
    assert_eq!(
        patch(&app, request).await,
        Err(invalid("prise", "unknown_field"))
    );
    assert_eq!(app.get_product(&product.id).await.unwrap(), product);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn every_field_can_be_set(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let product = full_product(&app).await;
    let (category, tax_rate) = (app.category("Hats").await, app.tax_rate("5").await);
    app.clock.advance(TimeDelta::milliseconds(1));
    let some = || Some("y".to_owned());
    let request = wire::UpdateProductRequest {
        id: product.id.clone(),
        name: some(),
        description: some(),
        category_id: Some(category.id.clone()),
        tax_rate_id: Some(tax_rate.id.clone()),
        asset_code: Some("Points".into()),
        price: Some("41".into()),
        bonus: Some("3".into()),
        r#type: Some(wire::ProductType::Service.into()),
        allow_choosing_quantity: Some(true),
        available: Some(false),
        featured: Some(true),
        visible: Some(false),
        requires_identity: Some(true),
        button_label: some(),
        list_label: some(),
        url: some(),
        image: some(),
        thumbnail: some(),
        order: Some("0.5".into()),
        custom_data: Some(r#"{"a":[]}"#.into()),
        update_mask: Some(mask(&[
            "name",
            "description",
            "category_id",
            "tax_rate_id",
            "asset_code",
            "price",
            "bonus",
            "type",
            "allow_choosing_quantity",
            "available",
            "featured",
            "visible",
            "requires_identity",
            "button_label",
            "list_label",
            "url",
            "image",
            "thumbnail",
            "order",
            "custom_data",
        ])),
    };
    let changed = patch(&app, request).await.unwrap();
    insta::assert_debug_snapshot!(changed, @r#"
    Product {
        id: "018bcfe5-6804-71bb-94d8-d101b5b90000",
        name: "y",
        description: Some(
            "y",
        ),
        category_id: "018bcfe5-6806-7099-ac6c-d7363ca50000",
        tax_rate_id: Some(
            "018bcfe5-6808-7917-98de-357e3da80000",
        ),
        asset_code: "points",
        price: "41.00000000",
        price_with_tax: "43.00000000",
        tax_amount: "2.00000000",
        bonus: "3.00000000",
        r#type: Service,
        allow_choosing_quantity: true,
        available: false,
        featured: true,
        visible: false,
        requires_identity: true,
        button_label: Some(
            "y",
        ),
        list_label: Some(
            "y",
        ),
        url: Some(
            "y",
        ),
        image_url: Some(
            "https://media.test/y",
        ),
        thumbnail_url: Some(
            "https://media.test/y",
        ),
        order: "0.5",
        custom_data: "{\"a\":[]}",
        metadata: "{}",
        created_at: Some(
            Timestamp {
                seconds: 1769853600,
                nanos: 0,
            },
        ),
        updated_at: Some(
            Timestamp {
                seconds: 1769853600,
                nanos: 1000000,
            },
        ),
        category: None,
        tax_rate: None,
        questions: None,
        version: 2,
    }
    "#);
    assert_eq!(app.get_product(&product.id).await.unwrap(), changed);
    let events = app.event_types(&product.id).await;
    assert_eq!(events, ["ProductCreated", "ProductUpdated"]);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn amounts_must_fit_the_asset_after_the_patch(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let category = app.category("Shoes").await;
    let mut request = new_product(&category);
    request.price = "9.99".into();
    let product = app.product(request).await;
    let update = |paths: &[&str]| wire::UpdateProductRequest {
        id: product.id.clone(),
        update_mask: Some(mask(paths)),
        ..Default::default()
    };
    let precision = |field: &str| {
        Err(Rejection::of_field(
            Code::AmountPrecision,
            field,
            "precision",
        ))
    };
    let mut request = update(&["asset_code"]);
    request.asset_code = Some("points".into());
    assert_eq!(patch(&app, request.clone()).await, precision("price"));
    request = update(&["asset_code", "price"]);
    (request.asset_code, request.price) = (Some("points".into()), Some("9.00000000".into()));
    let changed = patch(&app, request).await.unwrap();
    assert_eq!(
        (changed.asset_code.as_str(), changed.price.as_str()),
        ("points", "9.00000000")
    );
    let mut request = update(&["bonus"]);
    request.bonus = Some("0.5".into());
    assert_eq!(patch(&app, request).await, precision("bonus"));
    let disabled = Rejection::of_field(Code::AssetDisabled, "assetCode", "asset_disabled");
    for (code, rejection) in [
        ("old", disabled),
        ("eur", invalid("assetCode", "unknown_reference")),
    ] {
        let mut request = update(&["asset_code"]);
        request.asset_code = Some(code.into());
        assert_eq!(patch(&app, request).await, Err(rejection));
    }
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_price_changes_without_wallet_svc(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let product = full_product(&app).await;
    app.wallet.set_available(false);
    let request = wire::UpdateProductRequest {
        id: product.id.clone(),
        price: Some("7.77".into()),
        update_mask: Some(mask(&["price"])),
        ..Default::default()
    };
    let changed = patch(&app, request).await.unwrap();
    assert_eq!(changed.price_with_tax, "9.32000000");
}
