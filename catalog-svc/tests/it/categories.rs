//! Categories: bodies, rejections, patches, deletions.

use chrono::TimeDelta;
use platform::error::Code;
use proto::catalog::v1 as wire;
use sqlx::PgPool;

use crate::harness::{TestApp, UNKNOWN, invalid, mask, new_category, new_product, rejection};

fn update(id: &str, paths: &[&str]) -> wire::UpdateCategoryRequest {
    wire::UpdateCategoryRequest {
        id: id.into(),
        update_mask: Some(mask(paths)),
        ..wire::UpdateCategoryRequest::default()
    }
}

fn get(id: &str) -> wire::GetCategoryRequest {
    wire::GetCategoryRequest { id: id.into() }
}

fn delete(id: &str) -> wire::DeleteCategoryRequest {
    wire::DeleteCategoryRequest { id: id.into() }
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_category_reads_as_written(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let request = wire::CreateCategoryRequest {
        title: "Shoes".into(),
        description: Some("For feet – größer".into()),
        image: Some("shoes/red.png".into()),
        order: Some("07.50".into()),
        custom_data: Some(r#"{"n": 1e400, "big":12345678901234567890.123}"#.into()),
    };
    let created = app.create_category(request).await;
    insta::assert_debug_snapshot!(created, @r#"
    Category {
        id: "018bcfe5-6800-710a-adec-89025cc10000",
        title: "Shoes",
        description: Some(
            "For feet – größer",
        ),
        image_url: Some(
            "https://media.test/shoes/red.png",
        ),
        order: "7.5",
        custom_data: "{\"n\": 1e400, \"big\":12345678901234567890.123}",
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
    let read = app
        .admin
        .categories()
        .get_category(get(&created.id))
        .await
        .unwrap();
    assert_eq!(read.into_inner().category.unwrap(), created);
    assert_eq!(app.event_types(&created.id).await, ["CategoryChanged"]);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_category_without_order_comes_last(pool: PgPool) {
    let app = TestApp::new(pool).await;
    assert_eq!(app.category("first").await.order, "1");
    let mut request = new_category("second");
    request.order = Some("41.5".into());
    app.create_category(request).await;
    assert_eq!(app.category("third").await.order, "42");
    let mut request = new_category("at the end of the range");
    request.order = Some("9".repeat(20));
    app.create_category(request).await;
    assert_eq!(app.category("after that").await.order, "9".repeat(20));
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn invalid_fields_are_named(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let create = async |change: fn(&mut wire::CreateCategoryRequest)| {
        let mut request = new_category("Shoes");
        change(&mut request);
        rejection(app.admin.categories().create_category(request).await)
    };
    assert_eq!(
        create(|new| new.title.clear()).await,
        invalid("title", "required")
    );
    assert_eq!(
        create(|new| new.title = "x".repeat(256)).await,
        invalid("title", "length")
    );
    assert_eq!(
        create(|new| new.title = "a\0".into()).await,
        invalid("title", "format")
    );
    let long = |new: &mut wire::CreateCategoryRequest| new.description = Some("x".repeat(10_001));
    assert_eq!(create(long).await, invalid("description", "length"));
    assert_eq!(
        create(|new| new.image = Some("java\nscript:x".into())).await,
        invalid("image", "format")
    );
    assert_eq!(
        create(|new| new.order = Some("1e3".into())).await,
        invalid("order", "format")
    );
    assert_eq!(
        create(|new| new.custom_data = Some("[]".into())).await,
        invalid("customData", "type")
    );
    let both = create(|new| {
        new.title.clear();
        new.order = Some("-1".into());
    });
    assert_eq!(both.await.fields.len(), 2);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_patch_changes_the_fields_of_its_mask(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let mut request = new_category("Shoes");
    request.description = Some("For feet".into());
    request.image = Some("a.png".into());
    let created = app.create_category(request).await;
    app.clock.advance(TimeDelta::seconds(5));

    let empty = app
        .admin
        .categories()
        .update_category(update(&created.id, &[]))
        .await;
    assert_eq!(empty.unwrap().into_inner().category.unwrap(), created);
    let mut request = update(&created.id, &["title", "description"]);
    request.title = Some("Boots".into());
    let changed = app
        .admin
        .categories()
        .update_category(request)
        .await
        .unwrap();
    let changed = changed.into_inner().category.unwrap();
    let expected = wire::Category {
        title: "Boots".into(),
        description: None,
        updated_at: Some(prost_types::Timestamp {
            seconds: created.created_at.unwrap().seconds + 5,
            nanos: 0,
        }),
        version: 2,
        ..created.clone()
    };
    assert_eq!(changed, expected);
    let mut request = update(&created.id, &["image"]);
    request.image = Some(String::new());
    let changed = app
        .admin
        .categories()
        .update_category(request)
        .await
        .unwrap();
    assert_eq!(changed.into_inner().category.unwrap().image_url, None);
    assert_eq!(app.event_types(&created.id).await, ["CategoryChanged"; 3]);

    for path in ["title", "order", "custom_data"] {
        let request = update(&created.id, &[path]);
        let rejected = rejection(app.admin.categories().update_category(request).await);
        assert_eq!(rejected.fields[0].code, "required", "{path}");
    }
    let request = update(&created.id, &["titel"]);
    let rejected = rejection(app.admin.categories().update_category(request).await);
    assert_eq!(rejected, invalid("titel", "unknown_field"));
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_category_with_products_cannot_be_deleted(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let category = app.category("Shoes").await;
    let product = app.product(new_product(&category)).await;
    let rejected = rejection(
        app.admin
            .categories()
            .delete_category(delete(&category.id))
            .await,
    );
    assert_eq!(rejected.code, Code::CategoryInUse);

    let request = wire::DeleteProductRequest {
        id: product.id.clone(),
    };
    app.admin.products().delete_product(request).await.unwrap();
    app.admin
        .categories()
        .delete_category(delete(&category.id))
        .await
        .unwrap();
    for id in [category.id.as_str(), UNKNOWN, "x", ""] {
        let read = rejection(app.admin.categories().get_category(get(id)).await);
        assert_eq!(read.code, Code::CategoryNotFound, "{id}");
        let patch = rejection(
            app.admin
                .categories()
                .update_category(update(id, &[]))
                .await,
        );
        assert_eq!(patch.code, Code::CategoryNotFound);
        let again = rejection(app.admin.categories().delete_category(delete(id)).await);
        assert_eq!(again.code, Code::CategoryNotFound);
    }
    let rejected = rejection(
        app.admin
            .products()
            .create_product(new_product(&category))
            .await,
    );
    assert_eq!(rejected, invalid("categoryId", "unknown_reference"));
    let events = app.event_types(&category.id).await;
    assert_eq!(events, ["CategoryChanged"; 2]);
}
