//! Products: bodies, prices, assets, refusals, deletes.

use platform::error::Code;
use proto::catalog::v1 as wire;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::harness::{Catalog, admin, invalid, new_product, refusal};

type Refusal = (Code, Vec<(String, &'static str)>);

async fn refused(
    catalog: &mut Catalog,
    category: &wire::Category,
    change: impl FnOnce(&mut wire::CreateProductRequest),
) -> Refusal {
    let mut request = new_product(category);
    change(&mut request);
    refusal(catalog.products.create_product(admin(request)).await)
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_product_comes_back_as_it_was_written(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let (category, tax_rate) = (
        catalog.category("Shoes").await,
        catalog.tax_rate("10.75").await,
    );
    let request = wire::CreateProductRequest {
        name: Some("Red shoe".into()),
        description: Some("Red".into()),
        category_id: category.id.clone(),
        tax_rate_id: Some(tax_rate.id.clone()),
        asset_code: Some("USD".into()),
        price: "24.99".into(),
        bonus: Some("1.50".into()),
        r#type: wire::ProductType::Physical.into(),
        allow_choosing_quantity: true,
        available: Some(false),
        featured: true,
        visible: Some(false),
        requires_identity: true,
        button_label: Some("Buy".into()),
        list_label: Some("New".into()),
        url: Some("https://shop.test/red".into()),
        image: Some("https://img.test/red.png".into()),
        thumbnail: Some("red-small.png".into()),
        order: Some("3".into()),
        custom_data: Some(r#"{"n":1.0}"#.into()),
    };
    let created = catalog.product(request).await;
    insta::assert_debug_snapshot!(created, @r#"
    Product {
        id: "018bcfe5-6804-71bb-94d8-d101b5b90000",
        name: "Red shoe",
        description: Some(
            "Red",
        ),
        category_id: "018bcfe5-6800-710a-adec-89025cc10000",
        tax_rate_id: Some(
            "018bcfe5-6802-7893-a2ee-fb32555e0000",
        ),
        asset_code: "usd",
        price: "24.99000000",
        price_with_tax: "27.68000000",
        tax_amount: "2.69000000",
        bonus: "1.50000000",
        r#type: Physical,
        allow_choosing_quantity: true,
        available: false,
        featured: true,
        visible: false,
        requires_identity: true,
        button_label: Some(
            "Buy",
        ),
        list_label: Some(
            "New",
        ),
        url: Some(
            "https://shop.test/red",
        ),
        image_url: Some(
            "https://img.test/red.png",
        ),
        thumbnail_url: Some(
            "https://media.test/red-small.png",
        ),
        order: "3",
        custom_data: "{\"n\":1.0}",
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
                nanos: 0,
            },
        ),
        category: None,
        tax_rate: None,
        questions: None,
    }
    "#);
    assert_eq!(
        catalog
            .get_product(&created.id.to_uppercase())
            .await
            .unwrap(),
        created
    );
    assert_eq!(
        catalog.events(&created.id).await,
        [("ProductCreated".into(), 1)]
    );

    let get = wire::GetProductRequest {
        id: created.id.clone(),
        include: vec!["category".into(), "taxRate".into()],
    };
    let read = catalog.products.get_product(admin(get)).await.unwrap();
    let expected = wire::Product {
        category: Some(category),
        tax_rate: Some(tax_rate),
        ..created
    };
    assert_eq!(read.into_inner().product.unwrap(), expected);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn what_is_left_out_has_its_default(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let category = catalog.category("Shoes").await;
    let created = catalog.product(new_product(&category)).await;
    insta::assert_debug_snapshot!(created, @r#"
    Product {
        id: "018bcfe5-6802-7893-a2ee-fb32555e0000",
        name: "",
        description: None,
        category_id: "018bcfe5-6800-710a-adec-89025cc10000",
        tax_rate_id: None,
        asset_code: "usd",
        price: "10.00000000",
        price_with_tax: "10.00000000",
        tax_amount: "0.00000000",
        bonus: "0.00000000",
        r#type: Digital,
        allow_choosing_quantity: false,
        available: true,
        featured: false,
        visible: true,
        requires_identity: false,
        button_label: None,
        list_label: None,
        url: None,
        image_url: None,
        thumbnail_url: None,
        order: "1",
        custom_data: "{}",
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
                nanos: 0,
            },
        ),
        category: None,
        tax_rate: None,
        questions: None,
    }
    "#);
    assert_eq!(catalog.product(new_product(&category)).await.order, "2");
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn what_is_not_valid_is_named(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let category = catalog.category("Shoes").await;
    let unknown = "0192abcd-0000-7000-8000-00000000000f";
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
            |new| new.image = Some("file:///etc/passwd".into()),
            "image",
            "format",
        ),
        (
            |new| new.thumbnail = Some("data:,x".into()),
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
        assert_eq!(
            refused(&mut catalog, &category, change).await,
            invalid(field, code)
        );
    }
    let change = |new: &mut wire::CreateProductRequest| new.r#type = 9;
    assert_eq!(
        refused(&mut catalog, &category, change).await,
        invalid("typeCode", "enum")
    );
    let change = |new: &mut wire::CreateProductRequest| new.category_id = unknown.into();
    let fault = invalid("categoryId", "unknown_reference");
    assert_eq!(refused(&mut catalog, &category, change).await, fault);
    let change = |new: &mut wire::CreateProductRequest| new.tax_rate_id = Some(unknown.into());
    let fault = invalid("taxRateId", "unknown_reference");
    assert_eq!(refused(&mut catalog, &category, change).await, fault);
    let left: i64 = sqlx::query_scalar("select count(*) from catalog.products")
        .fetch_one(&catalog.pool)
        .await
        .unwrap();
    assert_eq!(left, 0);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn amounts_are_as_fine_as_their_asset(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let category = catalog.category("Shoes").await;
    let precision = |field: &str| (Code::AmountPrecision, vec![(field.to_owned(), "precision")]);
    let change = |new: &mut wire::CreateProductRequest| new.price = "1.005".into();
    assert_eq!(
        refused(&mut catalog, &category, change).await,
        precision("price")
    );
    let change = |new: &mut wire::CreateProductRequest| {
        (new.asset_code, new.price) = (Some("points".into()), "5".into());
        new.bonus = Some("0.5".into());
    };
    assert_eq!(
        refused(&mut catalog, &category, change).await,
        precision("bonus")
    );
    let change = |new: &mut wire::CreateProductRequest| new.asset_code = Some("old".into());
    let disabled = (
        Code::AssetDisabled,
        vec![("assetCode".to_owned(), "asset_disabled")],
    );
    assert_eq!(refused(&mut catalog, &category, change).await, disabled);

    let mut request = new_product(&category);
    (request.asset_code, request.price) = (Some("BTC".into()), "0.00000001".into());
    let product = catalog.product(request).await;
    assert_eq!(
        (product.asset_code, product.price),
        ("btc".into(), "0.00000001".into())
    );
    let mut request = new_product(&category);
    request.price = "9999999999999999999.99000000".into();
    request.tax_rate_id = Some(catalog.tax_rate("100").await.id);
    let product = catalog.product(request).await;
    assert_eq!(product.price_with_tax, "19999999999999999999.98000000");
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_dead_wallet_stops_only_what_needs_it(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let category = catalog.category("Shoes").await;
    let product = catalog.product(new_product(&category)).await;
    catalog.product(new_product(&category)).await;
    assert_eq!(catalog.wallet.asked(), ["usd"]);

    catalog.wallet.go_away();
    catalog.product(new_product(&category)).await;
    let change = |new: &mut wire::CreateProductRequest| new.asset_code = Some("points".into());
    assert_eq!(
        refused(&mut catalog, &category, change).await.0,
        Code::Unavailable
    );
    catalog.get_product(&product.id).await.unwrap();
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_deleted_product_is_gone(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let category = catalog.category("Shoes").await;
    let product = catalog.product(new_product(&category)).await;
    let delete = |id: &str| wire::DeleteProductRequest { id: id.into() };
    catalog
        .products
        .delete_product(admin(delete(&product.id)))
        .await
        .unwrap();
    for id in [
        product.id.as_str(),
        "0192abcd-0000-7000-8000-00000000000f",
        "x",
    ] {
        let again = refusal(catalog.products.delete_product(admin(delete(id))).await);
        assert_eq!(again.0, Code::ProductNotFound);
        assert!(catalog.get_product(id).await.is_err());
        let update = wire::UpdateProductRequest {
            id: id.into(),
            ..Default::default()
        };
        let patch = refusal(catalog.products.update_product(admin(update)).await);
        assert_eq!(patch.0, Code::ProductNotFound);
    }
    let list = catalog
        .products
        .list_products(admin(Default::default()))
        .await
        .unwrap();
    assert_eq!(list.into_inner().page.unwrap().total, 0);
    let events = catalog.events(&product.id).await;
    assert_eq!(
        events,
        [("ProductCreated".into(), 1), ("ProductDeleted".into(), 2)]
    );
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn parents_deleted_meanwhile_are_refused(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    for _ in 0..10 {
        let category = catalog.category("Shoes").await;
        let (mut products, mut categories) = (catalog.products.clone(), catalog.categories.clone());
        let delete = wire::DeleteCategoryRequest {
            id: category.id.clone(),
        };
        let (created, deleted) = tokio::join!(
            products.create_product(admin(new_product(&category))),
            categories.delete_category(admin(delete)),
        );
        // Exactly one of them wins.
        assert_ne!(created.is_ok(), deleted.is_ok(), "{created:?} {deleted:?}");
    }
}
