//! The order of products and categories, and how it is changed.

use std::collections::HashSet;

use platform::error::Code;
use proto::catalog::v1 as wire;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use tonic::{Response, Status};

use crate::harness::{Catalog, admin, invalid, keyed, new_product, refusal, user};

const UNKNOWN: &str = "0192abcd-0000-7000-8000-00000000000f";

async fn move_category(
    catalog: &mut Catalog,
    id: &str,
    next: Option<&str>,
) -> Result<Response<wire::ReorderCategoryResponse>, Status> {
    let request = wire::ReorderCategoryRequest {
        id: id.into(),
        subsequent_id: next.map(str::to_owned),
    };
    catalog.categories.reorder_category(admin(request)).await
}

async fn move_product(
    catalog: &mut Catalog,
    id: &str,
    next: Option<&str>,
) -> Result<Response<wire::ReorderProductResponse>, Status> {
    let request = wire::ReorderProductRequest {
        id: id.into(),
        subsequent_id: next.map(str::to_owned),
    };
    catalog.products.reorder_product(admin(request)).await
}

/// The categories in their order: titles and keys.
async fn order(catalog: &mut Catalog) -> (String, Vec<String>) {
    let answer = catalog
        .categories
        .list_categories(admin(Default::default()))
        .await
        .unwrap();
    let found = answer.into_inner().categories.into_iter();
    found
        .map(|category| (category.title, category.order))
        .unzip()
}

async fn categories(catalog: &mut Catalog, titles: &str, order: Option<&str>) -> Vec<String> {
    let mut ids = Vec::new();
    for title in titles.split("") {
        if title.is_empty() {
            continue;
        }
        let request = wire::CreateCategoryRequest {
            title: title.into(),
            order: order.map(str::to_owned),
            ..Default::default()
        };
        let created = catalog.categories.create_category(admin(request)).await;
        ids.push(created.unwrap().into_inner().category.unwrap().id);
    }
    ids
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn equal_keys_do_not_stop_a_move(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let ids = categories(&mut catalog, "ABCDE", Some("1")).await;
    move_category(&mut catalog, &ids[4], Some(&ids[0]))
        .await
        .unwrap();
    let (titles, keys) = order(&mut catalog).await;
    assert_eq!(titles, "EABCD");
    assert_eq!(keys.iter().collect::<HashSet<_>>().len(), 5, "{keys:?}");
    for (from, to, expected) in [(0, 3, "EBCAD"), (2, 4, "CEBAD"), (3, 3, "CEBAD")] {
        move_category(&mut catalog, &ids[from], Some(&ids[to]))
            .await
            .unwrap();
        assert_eq!(order(&mut catalog).await.0, expected);
    }
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_category_ends_right_before_another_or_last(
    pool: PgPoolOptions,
    server: PgConnectOptions,
) {
    let mut catalog = Catalog::start(pool, server).await;
    let ids = categories(&mut catalog, "ABCD", None).await;
    for (next, expected) in [
        (Some(&ids[3]), "BCAD"),
        (None, "BCDA"),
        (Some(&ids[0]), "BCDA"),
        (Some(&ids[1]), "ABCD"),
        (Some(&ids[1]), "ABCD"),
    ] {
        let next = next.map(String::as_str);
        move_category(&mut catalog, &ids[0], next).await.unwrap();
        assert_eq!(order(&mut catalog).await.0, expected, "{next:?}");
    }
    categories(&mut catalog, "E", None).await;
    assert_eq!(order(&mut catalog).await.0, "ABCDE");

    // Two of the moves above left it where it was.
    let changed = ("CategoryChanged".to_owned(), 4);
    assert_eq!(catalog.events(&ids[0]).await.last(), Some(&changed));
    assert_eq!(catalog.events(&ids[1]).await.len(), 1);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn keys_are_numbers_and_not_text(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let ids = categories(&mut catalog, "ABCDEFGHIJKL", None).await;
    move_category(&mut catalog, &ids[0], None).await.unwrap();
    let (titles, keys) = order(&mut catalog).await;
    assert_eq!(titles, "BCDEFGHIJKLA");
    assert_eq!(keys.last().unwrap(), "13");
    move_category(&mut catalog, &ids[1], Some(&ids[9]))
        .await
        .unwrap();
    let (titles, keys) = order(&mut catalog).await;
    assert_eq!(titles, "CDEFGHIBJKLA");
    assert_eq!(keys[7], "9.5");
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn unknown_ids_are_refused(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let ids = categories(&mut catalog, "AB", None).await;
    let category = catalog.category("C").await;
    let product = catalog.product(new_product(&category)).await;
    for id in [UNKNOWN, "x", &product.id] {
        let refused = refusal(move_category(&mut catalog, id, None).await);
        assert_eq!(refused.0, Code::CategoryNotFound);
    }
    for (next, code) in [
        (UNKNOWN, "unknown_reference"),
        (&product.id, "unknown_reference"),
        ("x", "format"),
        ("", "format"),
    ] {
        let refused = refusal(move_category(&mut catalog, &ids[0], Some(next)).await);
        assert_eq!(refused, invalid("subsequentId", code));
    }
    let refused = refusal(move_product(&mut catalog, &product.id, Some(&ids[0])).await);
    assert_eq!(refused, invalid("subsequentId", "unknown_reference"));
    let refused = refusal(move_product(&mut catalog, UNKNOWN, None).await);
    assert_eq!(refused.0, Code::ProductNotFound);

    let delete = wire::DeleteCategoryRequest { id: ids[1].clone() };
    let deleted = catalog.categories.delete_category(admin(delete)).await;
    deleted.unwrap();
    let refused = refusal(move_category(&mut catalog, &ids[0], Some(&ids[1])).await);
    assert_eq!(refused, invalid("subsequentId", "unknown_reference"));
    let forbidden = [
        refusal(
            catalog
                .categories
                .reorder_category(user(Default::default()))
                .await,
        ),
        refusal(
            catalog
                .products
                .reorder_product(user(Default::default()))
                .await,
        ),
    ];
    assert!(forbidden.iter().all(|(code, _)| *code == Code::Forbidden));
    assert_eq!(order(&mut catalog).await.0, "AC");
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn moves_that_meet_leave_one_order(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let category = catalog.category("Shoes").await;
    let mut ids = Vec::new();
    for _ in 0..10 {
        ids.push(catalog.product(new_product(&category)).await.id);
    }
    let moves = (0..20).map(|n| {
        let request = wire::ReorderProductRequest {
            id: ids[n * 7 % 10].clone(),
            subsequent_id: (n % 5 > 0).then(|| ids[n * 3 % 10].clone()),
        };
        let mut products = catalog.products.clone();
        async move { products.reorder_product(admin(request)).await }
    });
    for moved in futures::future::join_all(moves).await {
        moved.unwrap();
    }
    let answer = catalog
        .products
        .list_products(admin(Default::default()))
        .await
        .unwrap();
    let products = answer.into_inner().products;
    let seen: HashSet<_> = products.iter().map(|product| &product.id).collect();
    assert_eq!(seen, ids.iter().collect());
    let keys: HashSet<_> = products.iter().map(|product| &product.order).collect();
    assert_eq!(keys.len(), 10);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_product_moves_once_per_key(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let category = catalog.category("Shoes").await;
    let first = catalog.product(new_product(&category)).await;
    let second = catalog.product(new_product(&category)).await;
    let request = || wire::ReorderProductRequest {
        id: second.id.clone(),
        subsequent_id: Some(first.id.clone()),
    };
    for replayed in [false, true] {
        let request = keyed(request(), "POST /products/x/reorder", "aa");
        let moved = catalog.products.reorder_product(request).await.unwrap();
        assert_eq!(platform::idempotency::is_replay(moved.metadata()), replayed);
    }
    let updated = [
        ("ProductCreated".to_owned(), 1),
        ("ProductUpdated".into(), 2),
    ];
    assert_eq!(catalog.events(&second.id).await, updated);
    let moved = catalog.get_product(&second.id).await.unwrap();
    assert_eq!(moved.order, "0.99");
}
