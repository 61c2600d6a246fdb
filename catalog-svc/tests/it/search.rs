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

/// 6 000 products of one category. Every third is a lamp by name, every fifth by its description
/// only, and one has a name of its own.
async fn fill_with_lamps(catalog: &mut Catalog) {
    let category = catalog.category("Things").await;
    catalog.product(new_product(&category)).await;
    let sql = "
        with made as (delete from catalog.products returning *)
        insert into catalog.products
            (id, name, description, category_id, asset_code, price, bonus, type_code,
             allow_choosing_quantity, available, featured, visible, requires_identity, rank,
             custom_data, version, created_at, updated_at)
        select
            ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid,
            case when n = 5 then 'Unique' when n % 3 = 0 then 'Lamp' else 'Thing' end,
            case when n % 5 = 0 then 'lamp code' else 'code' end,
            category_id, asset_code, price, bonus, type_code, allow_choosing_quantity,
            n % 10 = 0, featured, visible, requires_identity, n / 2, custom_data, version,
            created_at, updated_at
        from made, generate_series(1, 6000) as n";
    sqlx::raw_sql(sql).execute(&catalog.pool).await.unwrap();
}

/// The numbers of the products that a search finds, page by page, by number and by cursor alike.
async fn visited(catalog: &mut Catalog, mut list: ListRequest, size: u32) -> Vec<u32> {
    list.page_size = Some(size);
    let mut seen = Vec::new();
    let mut cursor = None;
    for number in 1.. {
        let mut page = async |page_number, page_after| {
            let request = wire::ListProductsRequest {
                list: Some(ListRequest {
                    page_number,
                    page_after,
                    ..list.clone()
                }),
            };
            let response = catalog.products.list_products(admin(request)).await;
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
async fn a_search_gives_the_best_first_whether_few_or_many(
    pool: PgPoolOptions,
    server: PgConnectOptions,
) {
    use Operator::{Eq, Gte, Lt};
    let mut catalog = Catalog::start(pool, server).await;
    fill_with_lamps(&mut catalog).await;
    let by_name = (1..=6000).filter(|n| n % 3 == 0);
    let by_description = (1..=6000).filter(|n| n % 5 == 0 && n % 3 > 0);
    let expected: Vec<u32> = by_name.chain(by_description).collect();
    assert_eq!(expected.len(), 2800);
    assert_eq!(visited(&mut catalog, search("lam"), 700).await, expected);

    let filtered = |words: &str, filters: &[(&str, Operator, &str)]| {
        let mut list = search(words);
        let filters = filters.iter().map(|(field, operator, value)| Filter {
            field: (*field).into(),
            operator: (*operator).into(),
            values: vec![(*value).into()],
        });
        list.filters.extend(filters);
        list
    };
    let sorted = ListRequest {
        sort: vec![Sort {
            field: "order".into(),
            descending: true,
        }],
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
        assert_eq!(
            visited(&mut catalog, list.clone(), 2).await,
            expected,
            "{list:?}"
        );
    }

    let parent = catalog.category("Parent").await;
    let sql = "update catalog.products set category_id = $1::text::uuid where rank < 4";
    let moved = sqlx::query(sql)
        .bind(&parent.id)
        .execute(&catalog.pool)
        .await;
    assert_eq!(moved.unwrap().rows_affected(), 7);
    assert_eq!(
        visited(&mut catalog, search("lamp par"), 3).await,
        [3, 5, 6]
    );
}
