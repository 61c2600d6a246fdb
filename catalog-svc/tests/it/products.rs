//! Products: rejections, assets, deletions.

use platform::error::Code;
use proto::catalog::v1 as wire;
use sqlx::PgPool;

use crate::harness::{Rejection, TestApp, UNKNOWN, empty, invalid, new_product, rejection};

async fn refused(
    app: &TestApp,
    category: &wire::Category,
    change: impl FnOnce(&mut wire::CreateProductRequest),
) -> Rejection {
    let mut request = new_product(category);
    change(&mut request);
    rejection(app.admin.products().create_product(request).await)
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn invalid_fields_are_named(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let category = app.category("Shoes").await;
    for (change, field, code) in [
        (
            (|new| new.category_id.clear()) as fn(&mut wire::CreateProductRequest),
            "categoryId",
            "required",
        ),
        (|new| new.category_id = "x".into(), "categoryId", "format"),
        (|new| new.price.clear(), "price", "required"),
        (|new| new.price = "1e3".into(), "price", "format"),
        (|new| new.price = "-1".into(), "price", "format"),
        (|new| new.price = "0.000000001".into(), "price", "precision"),
        (
            |new| new.price = "1".repeat(20),
            "price",
            "amount_out_of_range",
        ),
        (|new| new.bonus = Some("+1".into()), "bonus", "format"),
        (
            |new| new.tax_rate_id = Some(String::new()),
            "taxRateId",
            "format",
        ),
        (
            |new| new.asset_code = Some("u s".into()),
            "assetCode",
            "format",
        ),
        (
            |new| new.asset_code = Some("eur".into()),
            "assetCode",
            "unknown_reference",
        ),
        (|new| new.name = Some("x".repeat(256)), "name", "length"),
        (|new| new.url = Some("x".repeat(2_049)), "url", "length"),
        (
            |new| new.button_label = Some("\0".into()),
            "buttonLabel",
            "format",
        ),
        (
            |new| new.image = Some("a\u{1b}.png".into()),
            "image",
            "format",
        ),
        (
            |new| new.thumbnail = Some("x\ny".into()),
            "thumbnail",
            "format",
        ),
        (|new| new.order = Some("a".into()), "order", "format"),
        (
            |new| new.custom_data = Some("5".into()),
            "customData",
            "type",
        ),
    ] {
        assert_eq!(refused(&app, &category, change).await, invalid(field, code));
    }
    let change = |new: &mut wire::CreateProductRequest| new.r#type = 9;
    assert_eq!(
        refused(&app, &category, change).await,
        invalid("typeCode", "enum")
    );
    let change = |new: &mut wire::CreateProductRequest| new.category_id = UNKNOWN.into();
    let unknown = invalid("categoryId", "unknown_reference");
    assert_eq!(refused(&app, &category, change).await, unknown);
    let change = |new: &mut wire::CreateProductRequest| new.tax_rate_id = Some(UNKNOWN.into());
    let unknown = invalid("taxRateId", "unknown_reference");
    assert_eq!(refused(&app, &category, change).await, unknown);
    let left: i64 = sqlx::query_scalar("select count(*) from catalog.products")
        .fetch_one(&app.pool)
        .await
        .unwrap();
    assert_eq!(left, 0);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn amounts_have_at_most_the_decimals_of_their_asset(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let category = app.category("Shoes").await;
    let precision = |field: &str| Rejection::of_field(Code::AmountPrecision, field, "precision");
    let change = |new: &mut wire::CreateProductRequest| new.price = "1.005".into();
    assert_eq!(refused(&app, &category, change).await, precision("price"));
    let change = |new: &mut wire::CreateProductRequest| {
        (new.asset_code, new.price) = (Some("points".into()), "5".into());
        new.bonus = Some("0.5".into());
    };
    assert_eq!(refused(&app, &category, change).await, precision("bonus"));
    let change = |new: &mut wire::CreateProductRequest| new.asset_code = Some("old".into());
    let disabled = Rejection::of_field(Code::AssetDisabled, "assetCode", "asset_disabled");
    assert_eq!(refused(&app, &category, change).await, disabled);

    let mut request = new_product(&category);
    (request.asset_code, request.price) = (Some("BTC".into()), "0.00000001".into());
    let product = app.product(request).await;
    assert_eq!(
        (product.asset_code, product.price),
        ("btc".into(), "0.00000001".into())
    );
    let mut request = new_product(&category);
    request.price = "9999999999999999999.99000000".into();
    request.tax_rate_id = Some(app.tax_rate("100").await.id);
    let product = app.product(request).await;
    assert_eq!(product.price_with_tax, "19999999999999999999.98000000");
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn without_wallet_svc_known_assets_still_work(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let category = app.category("Shoes").await;
    let product = app.product(new_product(&category)).await;
    app.wallet.set_available(false);
    app.product(new_product(&category)).await;
    let change = |new: &mut wire::CreateProductRequest| new.asset_code = Some("points".into());
    assert_eq!(
        refused(&app, &category, change).await.code,
        Code::Unavailable
    );
    app.get_product(&product.id).await.unwrap();
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_deleted_product_is_not_found(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let category = app.category("Shoes").await;
    let product = app.product(new_product(&category)).await;
    let delete = |id: &str| wire::DeleteProductRequest { id: id.into() };
    app.admin
        .products()
        .delete_product(delete(&product.id))
        .await
        .unwrap();
    for id in [product.id.as_str(), UNKNOWN, "x"] {
        let again = rejection(app.admin.products().delete_product(delete(id)).await);
        assert_eq!(again.code, Code::ProductNotFound);
        assert!(app.get_product(id).await.is_err());
        let update = wire::UpdateProductRequest {
            id: id.into(),
            ..Default::default()
        };
        let patch = rejection(app.admin.products().update_product(update).await);
        assert_eq!(patch.code, Code::ProductNotFound);
    }
    let list = app.admin.products().list_products(empty()).await.unwrap();
    assert_eq!(list.into_inner().page.unwrap().total, 0);
    let events = app.event_types(&product.id).await;
    assert_eq!(events, ["ProductCreated", "ProductDeleted"]);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_product_and_the_deletion_of_its_category_exclude_each_other(pool: PgPool) {
    let app = TestApp::new(pool).await;
    for _ in 0..10 {
        let category = app.category("Shoes").await;
        let (mut products, mut categories) = (app.admin.products(), app.admin.categories());
        let delete = wire::DeleteCategoryRequest {
            id: category.id.clone(),
        };
        let (created, deleted) = tokio::join!(
            products.create_product(new_product(&category)),
            categories.delete_category(delete),
        );
        // Exactly one of them wins.
        assert_ne!(created.is_ok(), deleted.is_ok(), "{created:?} {deleted:?}");
    }
}
