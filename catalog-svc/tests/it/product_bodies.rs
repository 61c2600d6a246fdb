//! Whole bodies of products.

use proto::catalog::v1 as wire;
use sqlx::PgPool;

use crate::harness::{TestApp, new_product};

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_product_reads_as_written(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (category, tax_rate) = (app.category("Shoes").await, app.tax_rate("10.75").await);
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
    let created = app.product(request).await;
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
        version: 1,
    }
    "#);
    assert_eq!(
        app.get_product(&created.id.to_uppercase()).await.unwrap(),
        created
    );
    assert_eq!(app.event_types(&created.id).await, ["ProductCreated"]);

    let get = wire::GetProductRequest {
        id: created.id.clone(),
        include: vec!["category".into(), "taxRate".into()],
    };
    let read = app.admin.products().get_product(get).await.unwrap();
    let expected = wire::Product {
        category: Some(category),
        tax_rate: Some(tax_rate),
        ..created
    };
    assert_eq!(read.into_inner().product.unwrap(), expected);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn omitted_fields_have_defaults(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let category = app.category("Shoes").await;
    let created = app.product(new_product(&category)).await;
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
        version: 1,
    }
    "#);
    assert_eq!(app.product(new_product(&category)).await.order, "2");
}
