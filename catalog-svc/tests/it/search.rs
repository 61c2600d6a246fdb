//! `filter[search]`: words in products and in the titles of their categories.

use platform::error::Code;
use proto::{
    catalog::v1 as wire,
    common::v1::{ListRequest, Operator},
};
use sqlx::PgPool;

use crate::harness::{TestApp, filter, mask, new_product, rejection, sort};

fn search(words: &str) -> ListRequest {
    filter("search", Operator::Eq, &[words])
}

async fn found(app: &TestApp, list: ListRequest) -> String {
    let request = wire::ListProductsRequest { list: Some(list) };
    let response = app.admin.products().list_products(request).await;
    let response = response.unwrap().into_inner();
    assert_eq!(response.page.unwrap().total, response.products.len() as u64);
    let names = response.products.into_iter().map(|product| product.name);
    names.collect::<Vec<_>>().join(", ")
}

async fn shop(app: &TestApp) -> wire::Category {
    let sweets = app.category("Süßes & Desserts").await;
    let shoes = app.category("Shoes").await;
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
        app.product(request).await;
    }
    sweets
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_search_needs_every_word(pool: PgPool) {
    let app = TestApp::new(pool).await;
    shop(&app).await;
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
        assert_eq!(found(&app, search(words)).await, expected, "{words}");
    }
    let many = "x ".repeat(17);
    for words in ["", "  ", "!!!", &many] {
        let list = Some(search(words));
        let request = wire::ListProductsRequest { list };
        let rejected = rejection(app.admin.products().list_products(request).await);
        assert_eq!(rejected.code, Code::InvalidQuery, "{words}");
    }
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_renamed_category_is_found_by_its_new_title(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let sweets = shop(&app).await;
    let update = wire::UpdateCategoryRequest {
        id: sweets.id,
        title: Some("Money".into()),
        update_mask: Some(mask(&["title"])),
        ..Default::default()
    };
    let updated = app.admin.categories().update_category(update).await;
    updated.unwrap();
    let found_now = found(&app, search("money")).await;
    assert_eq!(found_now, "Crème brûlée, Øre 100");
    assert_eq!(found(&app, search("desserts")).await, "");
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn matches_in_names_come_first_unless_sorted(pool: PgPool) {
    let app = TestApp::new(pool).await;
    shop(&app).await;
    let mut list = search("red");
    list.sort = sort("createdAt");
    assert_eq!(found(&app, list).await, "Boot, Red shoe");

    // Pages of one, by cursor.
    let mut seen = Vec::new();
    let mut list = search("red");
    list.page_size = Some(1);
    loop {
        let request = wire::ListProductsRequest {
            list: Some(list.clone()),
        };
        let response = app.admin.products().list_products(request).await;
        let response = response.unwrap().into_inner();
        seen.extend(response.products.into_iter().map(|product| product.name));
        let page = response.page.unwrap();
        assert_eq!(page.total, 2);
        if page.next_cursor.is_empty() {
            break;
        }
        list.page_after = Some(page.next_cursor);
    }
    assert_eq!(seen, ["Red shoe", "Boot"]);
}

/// 6 000 products of one category. Every third is a lamp by name, every fifth by its description
/// only, and one has a name of its own.
async fn fill_with_lamps(app: &TestApp) {
    let category = app.category("Things").await;
    app.product(new_product(&category)).await;
    let sql = "
        with made as (delete from catalog.products returning *)
        insert into catalog.products
            (id, name, description, category_id, asset_code, price, bonus, type_code,
             allow_choosing_quantity, available, featured, visible, requires_identity, rank,
             custom_data, version, created_at, updated_at, search, name_search)
        select
            ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid,
            case when n = 5 then 'Unique' when n % 3 = 0 then 'Lamp' else 'Thing' end,
            case when n % 5 = 0 then 'lamp code' else 'code' end,
            category_id, asset_code, price, bonus, type_code, allow_choosing_quantity,
            n % 10 = 0, featured, visible, requires_identity, n / 2, custom_data, version,
            created_at, updated_at,
            case when n = 5 then 'unique' when n % 3 = 0 then 'lamp' else 'thing' end::tsvector
                || case when n % 5 = 0 then 'lamp code' else 'code' end::tsvector,
            case when n = 5 then 'unique' when n % 3 = 0 then 'lamp' else 'thing' end::tsvector
        from made, generate_series(1, 6000) as n";
    sqlx::raw_sql(sql).execute(&app.pool).await.unwrap();
}

/// The numbers of the products that a search finds, page by page, by number and by cursor alike.
async fn visited(app: &TestApp, mut list: ListRequest, size: u32) -> Vec<u32> {
    list.page_size = Some(size);
    let mut seen = Vec::new();
    let mut cursor = None;
    for number in 1.. {
        let page = async |page_number, page_after| {
            let request = wire::ListProductsRequest {
                list: Some(ListRequest {
                    page_number,
                    page_after,
                    ..list.clone()
                }),
            };
            let response = app.admin.products().list_products(request).await;
            response.unwrap().into_inner()
        };
        let numbered = page(Some(number), None).await;
        let continued = page(None, cursor).await;
        assert_eq!(numbered, continued, "page {number}");
        // The digits of an id are decimal, as `lpad` wrote them.
        let ids = continued.products.iter().map(|product| &product.id[24..]);
        seen.extend(ids.map(|digits| digits.parse::<u32>().unwrap()));
        let info = continued.page.unwrap();
        if info.next_cursor.is_empty() {
            assert_eq!(info.total, seen.len() as u64);
            break;
        }
        cursor = Some(info.next_cursor);
    }
    seen
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn rare_and_common_words_are_found_in_the_same_order(pool: PgPool) {
    use Operator::{Eq, Gte, Lt};
    let app = TestApp::new(pool).await;
    fill_with_lamps(&app).await;
    let by_name = (1..=6000).filter(|n| n % 3 == 0);
    let by_description = (1..=6000).filter(|n| n % 5 == 0 && n % 3 > 0);
    let expected: Vec<u32> = by_name.chain(by_description).collect();
    assert_eq!(expected.len(), 2800);
    assert_eq!(visited(&app, search("lam"), 700).await, expected);

    let filtered = |words: &str, filters: &[(&str, Operator, &str)]| {
        let mut list = search(words);
        for (field, operator, value) in filters {
            list.filters
                .extend(filter(field, *operator, &[value]).filters);
        }
        list
    };
    let sorted = ListRequest {
        sort: sort("-order"),
        ..filtered("lamp", &[("order", Lt, "5")])
    };
    let last = [("available", Eq, "true"), ("order", Gte, "2995")];
    for (list, expected) in [
        (search("unique"), vec![5]),
        (filtered("lamp code", &last), vec![5990, 6000]),
        (filtered("lamp", &[("order", Lt, "5")]), vec![3, 6, 9, 5]),
        (sorted, vec![9, 6, 5, 3]),
        (search("nothing"), vec![]),
        (search("parent"), vec![]),
    ] {
        assert_eq!(visited(&app, list.clone(), 2).await, expected, "{list:?}");
    }

    let parent = app.category("Parent").await;
    let sql = "update catalog.products set category_id = $1::text::uuid where rank < 4";
    let moved = sqlx::query(sql).bind(&parent.id).execute(&app.pool).await;
    assert_eq!(moved.unwrap().rows_affected(), 7);
    assert_eq!(visited(&app, search("lamp par"), 3).await, [3, 5, 6]);
}
