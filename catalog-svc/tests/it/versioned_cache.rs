//! Pages and quotes of products come from a cache, and show each change as soon as it is committed.

use proto::{catalog::v1 as wire, common::v1::ListRequest};
use sqlx::{Connection as _, PgPool};

use crate::harness::{TestApp, new_product, new_question};

/// Creates a product with a tax rate and a question.
async fn shop(app: &TestApp) -> wire::Product {
    let (category, tax_rate) = (app.category("Shoes").await, app.tax_rate("5.55555").await);
    let mut request = new_product(&category);
    request.tax_rate_id = Some(tax_rate.id);
    let product = app.product(request).await;
    let mut question = new_question("Size?");
    question.required = true;
    let question = app.question(question).await;
    app.link(&product.id, &question.id).await.unwrap();
    product
}

/// Lists the products with all that can be embedded in them.
async fn page(app: &TestApp) -> wire::ListProductsResponse {
    let list = ListRequest {
        include: ["category", "taxRate", "questions"].map(Into::into).into(),
        ..ListRequest::default()
    };
    let request = wire::ListProductsRequest { list: Some(list) };
    let response = app.admin.products().list_products(request).await;
    response.unwrap().into_inner()
}

async fn names(app: &TestApp) -> Vec<String> {
    let products = page(app).await.products;
    products.into_iter().map(|product| product.name).collect()
}

/// Quotes one of a product, without answers.
async fn quote(app: &TestApp, product: &wire::Product) -> wire::QuoteLine {
    let line = wire::QuoteRequestLine {
        product_id: product.id.clone(),
        quantity: 1,
        answers: None,
    };
    let request = wire::QuoteRequest { lines: vec![line] };
    let response = app.service.quotes().quote(request).await.unwrap();
    response.into_inner().lines.remove(0)
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_page_shows_each_change(pool: PgPool) {
    let app = TestApp::new(pool).await;
    shop(&app).await;
    let mut last = page(&app).await;
    for change in [
        "update catalog.products set name = 'Boot'",
        "update catalog.categories set title = 'Boots'",
        "update catalog.assets set decimal_places = 3",
        "update catalog.tax_rates set rate = 7",
        "update catalog.questions set title = 'Colour?'",
        "delete from catalog.product_questions",
        "update catalog.products set deleted_at = now()",
    ] {
        sqlx::query(change).execute(&app.pool).await.unwrap();
        let next = page(&app).await;
        assert_ne!(next, last, "{change}");
        last = next;
    }
    shop(&app).await;
    assert_eq!(page(&app).await.page.unwrap().total, 1);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_quote_shows_each_change(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let product = shop(&app).await;
    let mut last = quote(&app, &product).await;
    assert_eq!(quote(&app, &product).await, last);
    for change in [
        "update catalog.products set price = 20",
        "update catalog.categories set title = 'Boots'",
        "update catalog.assets set decimal_places = 3",
        "update catalog.tax_rates set rate = 7",
        "update catalog.questions set required = false",
        "update catalog.products set deleted_at = now()",
    ] {
        sqlx::query(change).execute(&app.pool).await.unwrap();
        let next = quote(&app, &product).await;
        assert_ne!(next, last, "{change}");
        last = next;
    }
    assert_eq!(last, wire::QuoteLine::default());
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_page_shows_a_change_once_it_is_committed(pool: PgPool) {
    let app = TestApp::new(pool).await;
    shop(&app).await;
    assert_eq!(names(&app).await, [""]);

    let mut conn = app.pool.acquire().await.unwrap();
    let mut tx = conn.begin().await.unwrap();
    for name in ["Boot", "Boots"] {
        sqlx::query("update catalog.products set name = $1")
            .bind(name)
            .execute(&mut *tx)
            .await
            .unwrap();
        assert_eq!(names(&app).await, [""]);
    }
    tx.commit().await.unwrap();
    assert_eq!(names(&app).await, ["Boots"]);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn what_was_read_is_kept_while_nothing_changes(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let product = shop(&app).await;
    let quoted = quote(&app, &product).await;
    assert_eq!(names(&app).await, [""]);

    // A change that fires no triggers, so that only the table knows it.
    let mut conn = app.pool.acquire().await.unwrap();
    let mut tx = conn.begin().await.unwrap();
    for statement in [
        "set local session_replication_role = replica",
        "update catalog.products set name = 'Boot'",
    ] {
        sqlx::query(statement).execute(&mut *tx).await.unwrap();
    }
    tx.commit().await.unwrap();
    assert_eq!(names(&app).await, [""]);
    assert_eq!(quote(&app, &product).await, quoted);

    app.category("Hats").await;
    assert_eq!(names(&app).await, ["Boot"]);
    assert_ne!(quote(&app, &product).await, quoted);
}
