//! Lists: filters, sorts and includes.

use platform::error::Code;
use proto::{
    catalog::v1 as wire,
    common::v1::{Filter, ListRequest, Operator, Sort},
};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::harness::{Catalog, NOW, admin, new_product, refusal};

fn filter(field: &str, operator: Operator, values: &[&str]) -> ListRequest {
    ListRequest {
        filters: vec![Filter {
            field: field.into(),
            operator: operator.into(),
            values: values.iter().map(|value| (*value).to_owned()).collect(),
        }],
        ..ListRequest::default()
    }
}

fn sorted(keys: &[&str]) -> ListRequest {
    let keys = keys.iter().map(|key| Sort {
        field: key.trim_start_matches('-').into(),
        descending: key.starts_with('-'),
    });
    ListRequest {
        sort: keys.collect(),
        ..ListRequest::default()
    }
}

async fn products(catalog: &mut Catalog, list: ListRequest) -> Vec<String> {
    let request = wire::ListProductsRequest { list: Some(list) };
    let answer = catalog
        .products
        .list_products(admin(request))
        .await
        .unwrap()
        .into_inner();
    assert!(answer.page.unwrap().total >= answer.products.len() as u64);
    answer
        .products
        .into_iter()
        .map(|product| product.name)
        .collect()
}

async fn categories(catalog: &mut Catalog, list: ListRequest) -> Vec<String> {
    let request = wire::ListCategoriesRequest { list: Some(list) };
    let answer = catalog
        .categories
        .list_categories(admin(request))
        .await
        .unwrap();
    answer
        .into_inner()
        .categories
        .into_iter()
        .map(|category| category.title)
        .collect()
}

/// Products a to d in two categories, in the order c, d, a, b.
async fn shop(catalog: &mut Catalog) -> (wire::Category, wire::Category) {
    let (hats, shoes) = (
        catalog.category("Hats").await,
        catalog.category("Shoes").await,
    );
    for (name, order, category) in [
        ("a", "10", &hats),
        ("b", "10", &hats),
        ("c", "2", &shoes),
        ("d", "9.5", &shoes),
    ] {
        let request = wire::CreateProductRequest {
            name: Some(name.into()),
            description: Some(format!("É {name}_{name}")),
            order: Some(order.into()),
            available: Some(name == "a"),
            featured: name == "d",
            r#type: (if name == "c" { 2 } else { 0 }),
            ..new_product(category)
        };
        catalog.product(request).await;
    }
    (hats, shoes)
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn products_are_filtered(pool: PgPoolOptions, server: PgConnectOptions) {
    use Operator::{Eq, Gte, Ilike, In, Lte, Nin};
    let mut catalog = Catalog::start(pool, server).await;
    let (hats, shoes) = shop(&mut catalog).await;
    for (list, expected) in [
        (filter("available", Eq, &["true"]), "a"),
        (filter("categoryId", Eq, &[&hats.id.to_uppercase()]), "ab"),
        (filter("categoryId", Nin, &[&hats.id]), "cd"),
        (filter("categoryId", In, &[&hats.id, &shoes.id]), "cdab"),
        (filter("categoryId", In, &[]), ""),
        (filter("description", Eq, &["é b_b"]), "b"),
        (filter("description", Ilike, &["É %\\_d"]), "d"),
        (filter("featured", Eq, &["true"]), "d"),
        (filter("name", Eq, &["A"]), "a"),
        (filter("order", Eq, &["10.0"]), "ab"),
        (filter("order", Gte, &["9.5"]), "dab"),
        (filter("order", Lte, &["9.5"]), "cd"),
        (filter("requiresIdentity", Eq, &["false"]), "cdab"),
        (filter("typeCode", In, &["physical", "service"]), "c"),
        (filter("visible", Eq, &["false"]), ""),
        (filter("createdAt", Eq, &[NOW]), "cdab"),
        (filter("updatedAt", Gte, &["2026-02-01"]), ""),
    ] {
        let found = products(&mut catalog, list.clone()).await.concat();
        assert_eq!(found, expected, "{list:?}");
    }
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn products_are_sorted(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    shop(&mut catalog).await;
    for (keys, expected) in [
        (&[][..], "cdab"),
        (&["order"], "cdab"),
        (&["-featured", "order"], "dcab"),
        (&["createdAt"], "abcd"),
    ] {
        assert_eq!(
            products(&mut catalog, sorted(keys)).await.concat(),
            expected,
            "{keys:?}"
        );
    }
    let down = products(&mut catalog, sorted(&["-order"])).await;
    assert_eq!(down[2..], ["d", "c"]);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn categories_know_their_products(pool: PgPoolOptions, server: PgConnectOptions) {
    use Operator::Eq;
    let mut catalog = Catalog::start(pool, server).await;
    shop(&mut catalog).await;
    catalog.category("Empty").await;
    for (list, expected) in [
        (filter("availableProducts", Eq, &["true"]), &["Hats"][..]),
        (
            filter("availableProducts", Eq, &["false"]),
            &["Shoes", "Empty"],
        ),
        (filter("visibleProducts", Eq, &["true"]), &["Hats", "Shoes"]),
        (filter("visibleProducts", Eq, &["false"]), &["Empty"]),
        (filter("title", Eq, &["hA"]), &["Hats"]),
        (sorted(&["title"]), &["Empty", "Hats", "Shoes"]),
    ] {
        assert_eq!(
            categories(&mut catalog, list.clone()).await,
            expected,
            "{list:?}"
        );
    }
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn what_is_not_in_the_table_is_refused(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let included = ListRequest {
        include: vec!["secrets".into()],
        ..ListRequest::default()
    };
    for list in [
        filter("price", Operator::Eq, &["1"]),
        filter("order", Operator::In, &["1"]),
        filter("order", Operator::Eq, &["x"]),
        filter("typeCode", Operator::Eq, &["toy"]),
        sorted(&["price"]),
        sorted(&["name"]),
        included,
    ] {
        let request = wire::ListProductsRequest { list: Some(list) };
        let refused = refusal(catalog.products.list_products(admin(request)).await);
        assert_eq!(refused.0, Code::InvalidQuery);
    }
    let get = wire::GetProductRequest {
        id: "x".into(),
        include: vec!["lines".into()],
    };
    let refused = refusal(catalog.products.get_product(admin(get)).await);
    assert_eq!(refused.0, Code::InvalidQuery);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn relations_are_embedded_where_asked(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let (category, tax_rate) = (catalog.category("Hats").await, catalog.tax_rate("20").await);
    let mut request = new_product(&category);
    request.tax_rate_id = Some(tax_rate.id.clone());
    catalog.product(request).await;
    catalog.product(new_product(&category)).await;
    let list = ListRequest {
        include: vec!["category".into(), "taxRate".into()],
        ..ListRequest::default()
    };
    let request = wire::ListProductsRequest { list: Some(list) };
    let listed = catalog
        .products
        .list_products(admin(request))
        .await
        .unwrap()
        .into_inner();
    for product in &listed.products {
        assert_eq!(product.category.as_ref(), Some(&category));
    }
    assert_eq!(listed.products[0].tax_rate, Some(tax_rate));
    assert_eq!(listed.products[1].tax_rate, None);
}
