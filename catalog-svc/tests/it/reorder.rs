//! Moves of products and categories in their order.

use std::{collections::HashSet, time::Duration};

use platform::{error::Code, pg, testing::eventually};
use proto::catalog::v1 as wire;
use sqlx::PgPool;
use tonic::{Response, Status};

use crate::harness::{
    TestApp, UNKNOWN, empty, invalid, keyed, new_category, new_product, rejection,
};

/// How long a test waits for a condition before it fails.
const DEADLINE: Duration = Duration::from_mins(1);

async fn move_category(
    app: &TestApp,
    id: &str,
    next: Option<&str>,
) -> Result<Response<wire::ReorderCategoryResponse>, Status> {
    let request = wire::ReorderCategoryRequest {
        id: id.into(),
        subsequent_id: next.map(str::to_owned),
    };
    app.admin.categories().reorder_category(request).await
}

async fn move_product(
    app: &TestApp,
    id: &str,
    next: Option<&str>,
) -> Result<Response<wire::ReorderProductResponse>, Status> {
    let request = wire::ReorderProductRequest {
        id: id.into(),
        subsequent_id: next.map(str::to_owned),
    };
    app.admin.products().reorder_product(request).await
}

/// The categories in their order.
struct Categories {
    titles: String,
    ranks: Vec<String>,
}

async fn order(app: &TestApp) -> Categories {
    let mut categories = app.admin.categories();
    let response = categories.list_categories(wire::ListCategoriesRequest::default());
    let found = response.await.unwrap().into_inner().categories.into_iter();
    let (titles, ranks) = found
        .map(|category| (category.title, category.order))
        .unzip();
    Categories { titles, ranks }
}

/// Creates a category for each letter, and returns their ids.
async fn categories(app: &TestApp, titles: &str, order: Option<&str>) -> Vec<String> {
    let mut ids = Vec::new();
    for title in titles.chars() {
        let mut request = new_category(&title.to_string());
        request.order = order.map(str::to_owned);
        ids.push(app.create_category(request).await.id);
    }
    ids
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_move_among_equal_ranks_makes_them_different(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ids = categories(&app, "ABCDE", Some("1")).await;
    move_category(&app, &ids[4], Some(&ids[0])).await.unwrap();
    let moved = order(&app).await;
    assert_eq!(moved.titles, "EABCD");
    assert_eq!(moved.ranks.iter().collect::<HashSet<_>>().len(), 5);
    for (from, to, expected) in [(0, 3, "EBCAD"), (2, 4, "CEBAD"), (3, 3, "CEBAD")] {
        move_category(&app, &ids[from], Some(&ids[to]))
            .await
            .unwrap();
        assert_eq!(order(&app).await.titles, expected);
    }
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_category_moves_right_before_another_or_to_the_end(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ids = categories(&app, "ABCD", None).await;
    for (next, expected) in [
        (Some(&ids[3]), "BCAD"),
        (None, "BCDA"),
        (Some(&ids[0]), "BCDA"),
        (Some(&ids[1]), "ABCD"),
        (Some(&ids[1]), "ABCD"),
    ] {
        let next = next.map(String::as_str);
        move_category(&app, &ids[0], next).await.unwrap();
        assert_eq!(order(&app).await.titles, expected, "{next:?}");
    }
    categories(&app, "E", None).await;
    assert_eq!(order(&app).await.titles, "ABCDE");

    // Two of the moves above left it where it was.
    assert_eq!(app.event_types(&ids[0]).await, ["CategoryChanged"; 4]);
    assert_eq!(app.event_types(&ids[1]).await, ["CategoryChanged"]);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn ranks_compare_as_numbers(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ids = categories(&app, "ABCDEFGHIJKL", None).await;
    move_category(&app, &ids[0], None).await.unwrap();
    let moved = order(&app).await;
    assert_eq!(moved.titles, "BCDEFGHIJKLA");
    assert_eq!(moved.ranks[11], "13");
    move_category(&app, &ids[1], Some(&ids[9])).await.unwrap();
    let moved = order(&app).await;
    assert_eq!(moved.titles, "CDEFGHIBJKLA");
    assert_eq!(moved.ranks[7], "9.5");
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn unknown_ids_are_refused(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ids = categories(&app, "AB", None).await;
    let category = app.category("C").await;
    let product = app.product(new_product(&category)).await;
    for id in [UNKNOWN, "x", &product.id] {
        let rejected = rejection(move_category(&app, id, None).await);
        assert_eq!(rejected.code, Code::CategoryNotFound);
    }
    for (next, code) in [
        (UNKNOWN, "unknown_reference"),
        (&product.id, "unknown_reference"),
        ("x", "format"),
        ("", "format"),
    ] {
        let rejected = rejection(move_category(&app, &ids[0], Some(next)).await);
        assert_eq!(rejected, invalid("subsequentId", code));
    }
    let rejected = rejection(move_product(&app, &product.id, Some(&ids[0])).await);
    assert_eq!(rejected, invalid("subsequentId", "unknown_reference"));
    let rejected = rejection(move_product(&app, UNKNOWN, None).await);
    assert_eq!(rejected.code, Code::ProductNotFound);

    let delete = wire::DeleteCategoryRequest { id: ids[1].clone() };
    let deleted = app.admin.categories().delete_category(delete).await;
    deleted.unwrap();
    let rejected = rejection(move_category(&app, &ids[0], Some(&ids[1])).await);
    assert_eq!(rejected, invalid("subsequentId", "unknown_reference"));
    let forbidden = [
        rejection(app.user.categories().reorder_category(empty()).await),
        rejection(app.user.products().reorder_product(empty()).await),
    ];
    assert!(
        forbidden
            .iter()
            .all(|rejected| rejected.code == Code::Forbidden)
    );
    assert_eq!(order(&app).await.titles, "AC");
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn concurrent_moves_leave_every_rank_different(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let category = app.category("Shoes").await;
    let mut ids = Vec::new();
    for _ in 0..10 {
        ids.push(app.product(new_product(&category)).await.id);
    }
    let moves = (0..20).map(|n| {
        let request = wire::ReorderProductRequest {
            id: ids[n * 7 % 10].clone(),
            subsequent_id: (n % 5 > 0).then(|| ids[n * 3 % 10].clone()),
        };
        let mut products = app.admin.products();
        async move { products.reorder_product(request).await }
    });
    for moved in futures::future::join_all(moves).await {
        moved.unwrap();
    }
    let response = app.admin.products().list_products(empty()).await.unwrap();
    let products = response.into_inner().products;
    let seen: HashSet<_> = products.iter().map(|product| &product.id).collect();
    assert_eq!(seen, ids.iter().collect());
    let ranks: HashSet<_> = products.iter().map(|product| &product.order).collect();
    assert_eq!(ranks.len(), 10);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_repeated_move_replays_its_response(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let category = app.category("Shoes").await;
    let first = app.product(new_product(&category)).await;
    let second = app.product(new_product(&category)).await;
    let request = || wire::ReorderProductRequest {
        id: second.id.clone(),
        subsequent_id: Some(first.id.clone()),
    };
    for replayed in [false, true] {
        let request = keyed(request(), "POST /products/x/reorder", "aa");
        let moved = app.admin.products().reorder_product(request).await.unwrap();
        assert_eq!(platform::idempotency::is_replay(moved.metadata()), replayed);
    }
    let events = app.event_types(&second.id).await;
    assert_eq!(events, ["ProductCreated", "ProductUpdated"]);
    let moved = app.get_product(&second.id).await.unwrap();
    assert_eq!(moved.order, "0.99");
}

/// The import has locked the first category and waits for the second one, the move has locked the third
/// one, for which the import waits next, and re-spaces the first.
#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_move_does_not_wait_for_an_import(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let first = categories(&app, "AB", Some("1")).await;
    let others = categories(&app, "CD", None).await;
    let mut lock = pg::tx(&app.pool).await.unwrap();
    sqlx::query("select from catalog.categories where title = 'C' for update")
        .execute(&mut *lock)
        .await
        .unwrap();
    let lines = (0..).zip([&first[0], &first[1], &others[0], &others[1]]);
    let lines = lines.map(|(line, id)| wire::ImportLine {
        line,
        product: Some(wire::CreateProductRequest {
            category_id: id.clone(),
            price: "1".to_owned(),
            ..Default::default()
        }),
    });
    let request = wire::ImportProductsRequest {
        lines: lines.collect(),
        ..Default::default()
    };
    let mut products = app.admin.products();
    let import = products.import_products(request);
    let moved = async {
        let waiting = "select count(*) from pg_stat_activity
             where datname = current_database() and wait_event_type = 'Lock'";
        eventually("the import waits", DEADLINE, async || {
            let sessions: i64 = sqlx::query_scalar(waiting)
                .fetch_one(&app.pool)
                .await
                .unwrap();
            sessions == 1
        })
        .await;
        let moved = move_category(&app, &others[1], Some(&first[1])).await;
        lock.rollback().await.unwrap();
        moved
    };
    let (imported, moved) = tokio::join!(import, moved);
    moved.unwrap();
    assert_eq!(imported.unwrap().into_inner().products.len(), 4);
    assert_eq!(order(&app).await.titles, "ADBC");
}
