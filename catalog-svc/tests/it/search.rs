//! `filter[search]`: words in products and in the titles of their categories.

use platform::error::Code;
use prost_types::FieldMask;
use proto::{
    catalog::v1 as wire,
    common::v1::{Filter, ListRequest, Operator, Sort},
};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::harness::{Catalog, admin, new_product, refusal};

fn search(words: &str) -> ListRequest {
    ListRequest {
        filters: vec![Filter {
            field: "search".into(),
            operator: Operator::Eq.into(),
            values: vec![words.into()],
        }],
        ..ListRequest::default()
    }
}

async fn found(catalog: &mut Catalog, list: ListRequest) -> String {
    let request = wire::ListProductsRequest { list: Some(list) };
    let answer = catalog.products.list_products(admin(request)).await;
    let answer = answer.unwrap().into_inner();
    assert_eq!(answer.page.unwrap().total, answer.products.len() as u64);
    let names = answer.products.into_iter().map(|product| product.name);
    names.collect::<Vec<_>>().join(", ")
}

async fn shop(catalog: &mut Catalog) -> wire::Category {
    let sweets = catalog.category("Süßes & Desserts").await;
    let shoes = catalog.category("Shoes").await;
    for (name, description, category) in [
        ("Boot", Some("a red.shoe for winter"), &shoes),
        ("Red shoe", Some("plain"), &shoes),
        ("Crème brûlée", None, &sweets),
        ("Øre 100", Some("it's a coin (10%)"), &sweets),
    ] {
        let request = wire::CreateProductRequest {
            name: Some(name.into()),
            description: description.map(str::to_owned),
            ..new_product(category)
        };
        catalog.product(request).await;
    }
    sweets
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn every_word_has_to_occur(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    shop(&mut catalog).await;
    for (words, expected) in [
        ("red", "Red shoe, Boot"),
        ("RED shoe", "Red shoe, Boot"),
        ("shoe red winter", "Boot"),
        ("red sho", "Red shoe, Boot"),
        ("re shoe", ""),
        ("creme BRULEE", "Crème brûlée"),
        ("Crème", "Crème brûlée"),
        ("crème desserts", "Crème brûlée"),
        ("dess", "Crème brûlée, Øre 100"),
        ("ore", "Øre 100"),
        ("ØRE", "Øre 100"),
        ("10", "Øre 100"),
        ("it's", "Øre 100"),
        ("shoes", "Boot, Red shoe"),
        ("'); drop table x; --", ""),
        ("red & !shoe | (x:*)", ""),
        ("nothing", ""),
    ] {
        assert_eq!(
            found(&mut catalog, search(words)).await,
            expected,
            "{words}"
        );
    }
    let many = "x ".repeat(17);
    for words in ["", "  ", "!!!", &many] {
        let list = Some(search(words));
        let request = wire::ListProductsRequest { list };
        let refused = refusal(catalog.products.list_products(admin(request)).await);
        assert_eq!(refused.0, Code::InvalidQuery, "{words}");
    }
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn changes_are_found_at_once(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let sweets = shop(&mut catalog).await;
    let update = wire::UpdateCategoryRequest {
        id: sweets.id,
        title: Some("Money".into()),
        update_mask: Some(FieldMask {
            paths: vec!["title".into()],
        }),
        ..Default::default()
    };
    let updated = catalog.categories.update_category(admin(update)).await;
    updated.unwrap();
    let found_now = found(&mut catalog, search("money")).await;
    assert_eq!(found_now, "Crème brûlée, Øre 100");
    assert_eq!(found(&mut catalog, search("desserts")).await, "");
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn the_best_comes_first_unless_sorted(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    shop(&mut catalog).await;
    let mut list = search("red");
    list.sort = vec![Sort {
        field: "createdAt".into(),
        descending: false,
    }];
    assert_eq!(found(&mut catalog, list).await, "Boot, Red shoe");

    // Pages of one, by cursor.
    let mut seen = Vec::new();
    let mut list = search("red");
    list.page_size = Some(1);
    loop {
        let request = wire::ListProductsRequest {
            list: Some(list.clone()),
        };
        let answer = catalog.products.list_products(admin(request)).await;
        let answer = answer.unwrap().into_inner();
        seen.extend(answer.products.into_iter().map(|product| product.name));
        let page = answer.page.unwrap();
        assert_eq!(page.total, 2);
        if page.next_cursor.is_empty() {
            break;
        }
        list.page_after = Some(page.next_cursor);
    }
    assert_eq!(seen, ["Red shoe", "Boot"]);
}
