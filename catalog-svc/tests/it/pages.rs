//! Every list visited page by page holds each row once, for each sort, with equal keys.

use std::{
    collections::HashSet,
    sync::atomic::{AtomicBool, Ordering},
};

use futures::future::join_all;
use proto::{
    catalog::v1 as wire,
    common::v1::{ListRequest, PageInfo, Sort},
    lists::{
        ListTable,
        catalog::{CATEGORIES, PRODUCTS, QUESTION_TYPES, QUESTIONS, TAX_RATES},
    },
};
use sqlx::PgPool;

use crate::harness::{TestApp, new_category, new_product, new_question};

const ROWS: usize = 23;
const SIZE: u32 = 4;

/// Creates rows that differ only in their ids.
async fn fill(app: &TestApp) {
    let category = app.category("Same").await;
    for row in 0..ROWS {
        let mut request = new_product(&category);
        request.name = Some("Same shoe".into());
        request.order = Some("1".into());
        app.product(request).await;
        app.tax_rate("20").await;
        app.question(new_question("Same?")).await;
        if row > 0 {
            let mut request = new_category("Same");
            request.order = Some(category.order.clone());
            app.create_category(request).await;
        }
    }
}

/// Reads a page of the list: its ids and its info.
async fn page(app: &TestApp, table: &ListTable, list: ListRequest) -> (Vec<String>, PageInfo) {
    macro_rules! page {
        ($client:ident.$rpc:ident($request:ident).$rows:ident, $id:ident) => {{
            let request = wire::$request { list: Some(list) };
            let response = app.admin.$client().$rpc(request).await.unwrap();
            let response = response.into_inner();
            let ids = response.$rows.into_iter().map(|row| row.$id).collect();
            (ids, response.page.unwrap())
        }};
    }
    match table.resource {
        "products" => page!(products.list_products(ListProductsRequest).products, id),
        "categories" => page!(
            categories.list_categories(ListCategoriesRequest).categories,
            id
        ),
        "tax-rates" => page!(tax_rates.list_tax_rates(ListTaxRatesRequest).tax_rates, id),
        "questions" => page!(questions.list_questions(ListQuestionsRequest).questions, id),
        _ => page!(
            questions
                .list_question_types(ListQuestionTypesRequest)
                .question_types,
            code
        ),
    }
}

/// Returns all sorts by one field, and the default one.
fn sorts(table: &ListTable) -> Vec<Vec<Sort>> {
    let sortable = table.fields.iter().filter(|field| field.sortable);
    let each = sortable.flat_map(|field| {
        [false, true].map(|descending| {
            vec![Sort {
                field: field.name.into(),
                descending,
            }]
        })
    });
    each.chain([Vec::new()]).collect()
}

/// Reads the ids on all pages, by number or by cursor.
async fn walk(app: &TestApp, table: &ListTable, sort: &[Sort], by_cursor: bool) -> Vec<String> {
    let mut list = ListRequest {
        sort: sort.to_vec(),
        page_size: Some(SIZE),
        ..ListRequest::default()
    };
    let mut seen = Vec::new();
    for number in 1.. {
        if !by_cursor {
            list.page_number = Some(number);
        }
        let (ids, info) = page(app, table, list.clone()).await;
        seen.extend(ids);
        assert!(info.total >= seen.len() as u64);
        if info.next_cursor.is_empty() {
            assert_eq!(info.total, seen.len() as u64);
            break;
        }
        if by_cursor {
            list.page_after = Some(info.next_cursor);
        }
    }
    seen
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn every_row_is_on_exactly_one_page(pool: PgPool) {
    let app = TestApp::new(pool).await;
    fill(&app).await;
    for (table, rows) in [
        (PRODUCTS, ROWS),
        (CATEGORIES, ROWS),
        (TAX_RATES, ROWS),
        (QUESTIONS, ROWS),
        (QUESTION_TYPES, 5),
    ] {
        for sort in sorts(&table) {
            let by_number = walk(&app, &table, &sort, false).await;
            let by_cursor = walk(&app, &table, &sort, true).await;
            let what = format!("{} by {sort:?}", table.resource);
            assert_eq!(by_number, by_cursor, "{what}");
            let distinct: HashSet<_> = by_number.iter().collect();
            assert_eq!((by_number.len(), distinct.len()), (rows, rows), "{what}");
        }
    }
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn the_total_is_the_number_of_all_rows_while_others_write(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let is_done = AtomicBool::new(false);
    let write = async {
        let writers = (0..10).map(|_| async {
            for round in 0..6 {
                let id = app.tax_rate("20").await.id;
                if round % 2 == 0 {
                    let request = wire::DeleteTaxRateRequest { id };
                    app.admin
                        .tax_rates()
                        .delete_tax_rate(request)
                        .await
                        .unwrap();
                }
            }
        });
        join_all(writers).await;
        is_done.store(true, Ordering::Relaxed);
    };
    let read = async {
        while !is_done.load(Ordering::Relaxed) {
            let list = ListRequest {
                page_size: Some(1_000),
                ..ListRequest::default()
            };
            let (ids, info) = page(&app, &TAX_RATES, list).await;
            assert_eq!(info.total, ids.len() as u64);
        }
    };
    tokio::join!(write, read);
}
