//! Categories: bodies, refusals, patches, deletes.

use chrono::TimeDelta;
use platform::error::Code;
use prost_types::FieldMask;
use proto::catalog::v1 as wire;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::harness::{Catalog, admin, invalid, new_product, refusal};

fn new(title: &str) -> wire::CreateCategoryRequest {
    wire::CreateCategoryRequest {
        title: title.into(),
        ..wire::CreateCategoryRequest::default()
    }
}

fn update(id: &str, paths: &[&str]) -> wire::UpdateCategoryRequest {
    wire::UpdateCategoryRequest {
        id: id.into(),
        update_mask: Some(FieldMask {
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        }),
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
async fn a_category_comes_back_as_it_was_written(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let request = wire::CreateCategoryRequest {
        title: "Shoes".into(),
        description: Some("For feet – größer".into()),
        image: Some("shoes/red.png".into()),
        order: Some("07.50".into()),
        custom_data: Some(r#"{"n": 1e400, "big":12345678901234567890.123}"#.into()),
    };
    let created = catalog
        .categories
        .create_category(admin(request))
        .await
        .unwrap();
    let created = created.into_inner().category.unwrap();
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
    }
    "#);
    let read = catalog
        .categories
        .get_category(admin(get(&created.id)))
        .await
        .unwrap();
    assert_eq!(read.into_inner().category.unwrap(), created);
    assert_eq!(
        catalog.events(&created.id).await,
        [("CategoryChanged".into(), 1)]
    );
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_category_without_order_comes_last(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    assert_eq!(catalog.category("first").await.order, "1");
    let mut request = new("second");
    request.order = Some("41.5".into());
    catalog
        .categories
        .create_category(admin(request))
        .await
        .unwrap();
    assert_eq!(catalog.category("third").await.order, "42");
    let mut request = new("at the end of the range");
    request.order = Some("9".repeat(20));
    catalog
        .categories
        .create_category(admin(request))
        .await
        .unwrap();
    assert_eq!(catalog.category("after that").await.order, "9".repeat(20));
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn what_is_not_valid_is_named(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let mut create = async |change: fn(&mut wire::CreateCategoryRequest)| {
        let mut request = new("Shoes");
        change(&mut request);
        refusal(catalog.categories.create_category(admin(request)).await)
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
        create(|new| new.image = Some("javascript:alert(1)".into())).await,
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
    assert_eq!(both.await.1.len(), 2);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_patch_changes_what_it_names(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let mut request = new("Shoes");
    request.description = Some("For feet".into());
    request.image = Some("a.png".into());
    let created = catalog
        .categories
        .create_category(admin(request))
        .await
        .unwrap();
    let created = created.into_inner().category.unwrap();
    catalog.clock.advance(TimeDelta::seconds(5));

    let empty = catalog
        .categories
        .update_category(admin(update(&created.id, &[])))
        .await;
    assert_eq!(empty.unwrap().into_inner().category.unwrap(), created);
    let mut request = update(&created.id, &["title", "description"]);
    request.title = Some("Boots".into());
    let changed = catalog
        .categories
        .update_category(admin(request))
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
        ..created.clone()
    };
    assert_eq!(changed, expected);
    let mut request = update(&created.id, &["image"]);
    request.image = Some(String::new());
    let changed = catalog
        .categories
        .update_category(admin(request))
        .await
        .unwrap();
    assert_eq!(changed.into_inner().category.unwrap().image_url, None);
    let versions: Vec<_> = catalog.events(&created.id).await;
    assert_eq!(
        versions
            .iter()
            .map(|(_, version)| *version)
            .collect::<Vec<_>>(),
        [1, 2, 3]
    );

    for path in ["title", "order", "custom_data"] {
        let request = update(&created.id, &[path]);
        let refused = refusal(catalog.categories.update_category(admin(request)).await);
        assert_eq!(refused.1[0].1, "type", "{path}");
    }
    let request = update(&created.id, &["titel"]);
    let refused = refusal(catalog.categories.update_category(admin(request)).await);
    assert_eq!(refused, invalid("titel", "unknown_field"));
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_category_in_use_stays(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let category = catalog.category("Shoes").await;
    let product = catalog.product(new_product(&category)).await;
    let refused = refusal(
        catalog
            .categories
            .delete_category(admin(delete(&category.id)))
            .await,
    );
    assert_eq!(refused.0, Code::CategoryInUse);

    let request = wire::DeleteProductRequest {
        id: product.id.clone(),
    };
    catalog
        .products
        .delete_product(admin(request))
        .await
        .unwrap();
    catalog
        .categories
        .delete_category(admin(delete(&category.id)))
        .await
        .unwrap();
    for id in [
        category.id.as_str(),
        "0192abcd-0000-7000-8000-00000000000f",
        "x",
        "",
    ] {
        let read = refusal(catalog.categories.get_category(admin(get(id))).await);
        assert_eq!(read.0, Code::CategoryNotFound, "{id}");
        let patch = refusal(
            catalog
                .categories
                .update_category(admin(update(id, &[])))
                .await,
        );
        assert_eq!(patch.0, Code::CategoryNotFound);
        let again = refusal(catalog.categories.delete_category(admin(delete(id))).await);
        assert_eq!(again.0, Code::CategoryNotFound);
    }
    let refused = refusal(
        catalog
            .products
            .create_product(admin(new_product(&category)))
            .await,
    );
    assert_eq!(refused, invalid("categoryId", "unknown_reference"));
    let events = catalog.events(&category.id).await;
    assert_eq!(
        events,
        [("CategoryChanged".into(), 1), ("CategoryChanged".into(), 2)]
    );
}
