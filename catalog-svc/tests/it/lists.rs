//! Lists: filters, sorts and includes.

use platform::error::Code;
use proto::{
    catalog::v1 as wire,
    common::v1::{ListRequest, Operator},
};
use sqlx::PgPool;

use crate::harness::{NOW, TestApp, filter, new_product, rejection, sort};

fn sorted(keys: &str) -> ListRequest {
    ListRequest {
        sort: sort(keys),
        ..ListRequest::default()
    }
}

async fn products(app: &TestApp, list: ListRequest) -> Vec<String> {
    let request = wire::ListProductsRequest { list: Some(list) };
    let response = app
        .admin
        .products()
        .list_products(request)
        .await
        .unwrap()
        .into_inner();
    assert!(response.page.unwrap().total >= response.products.len() as u64);
    response
        .products
        .into_iter()
        .map(|product| product.name)
        .collect()
}

async fn categories(app: &TestApp, list: ListRequest) -> Vec<String> {
    let request = wire::ListCategoriesRequest { list: Some(list) };
    let response = app
        .admin
        .categories()
        .list_categories(request)
        .await
        .unwrap();
    response
        .into_inner()
        .categories
        .into_iter()
        .map(|category| category.title)
        .collect()
}

/// Products a to d in two categories, in the order c, d, a, b.
async fn shop(app: &TestApp) -> (wire::Category, wire::Category) {
    let (hats, shoes) = (app.category("Hats").await, app.category("Shoes").await);
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
        app.product(request).await;
    }
    (hats, shoes)
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn products_are_filtered(pool: PgPool) {
    use Operator::{Eq, Gte, Ilike, In, Lte, Nin};
    let app = TestApp::new(pool).await;
    let (hats, shoes) = shop(&app).await;
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
        let found = products(&app, list.clone()).await.concat();
        assert_eq!(found, expected, "{list:?}");
    }
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn products_are_sorted(pool: PgPool) {
    let app = TestApp::new(pool).await;
    shop(&app).await;
    for (keys, expected) in [
        ("", "cdab"),
        ("order", "cdab"),
        ("-featured,order", "dcab"),
        ("createdAt", "abcd"),
    ] {
        assert_eq!(
            products(&app, sorted(keys)).await.concat(),
            expected,
            "{keys:?}"
        );
    }
    let down = products(&app, sorted("-order")).await;
    assert_eq!(down[2..], ["d", "c"]);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn categories_are_filtered_by_their_products(pool: PgPool) {
    use Operator::Eq;
    let app = TestApp::new(pool).await;
    shop(&app).await;
    app.category("Empty").await;
    for (list, expected) in [
        (filter("availableProducts", Eq, &["true"]), &["Hats"][..]),
        (
            filter("availableProducts", Eq, &["false"]),
            &["Shoes", "Empty"],
        ),
        (filter("visibleProducts", Eq, &["true"]), &["Hats", "Shoes"]),
        (filter("visibleProducts", Eq, &["false"]), &["Empty"]),
        (filter("title", Eq, &["hA"]), &["Hats"]),
        (sorted("title"), &["Empty", "Hats", "Shoes"]),
    ] {
        assert_eq!(categories(&app, list.clone()).await, expected, "{list:?}");
    }
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn fields_outside_the_list_table_are_refused(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let included = ListRequest {
        include: vec!["secrets".into()],
        ..ListRequest::default()
    };
    for list in [
        filter("price", Operator::Eq, &["1"]),
        filter("order", Operator::In, &["1"]),
        filter("order", Operator::Eq, &["x"]),
        filter("typeCode", Operator::Eq, &["toy"]),
        sorted("price"),
        sorted("name"),
        included,
    ] {
        let request = wire::ListProductsRequest { list: Some(list) };
        let rejected = rejection(app.admin.products().list_products(request).await);
        assert_eq!(rejected.code, Code::InvalidQuery);
    }
    let get = wire::GetProductRequest {
        id: "x".into(),
        include: vec!["lines".into()],
    };
    let rejected = rejection(app.admin.products().get_product(get).await);
    assert_eq!(rejected.code, Code::InvalidQuery);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn requested_relations_are_embedded(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (category, tax_rate) = (app.category("Hats").await, app.tax_rate("20").await);
    let mut request = new_product(&category);
    request.tax_rate_id = Some(tax_rate.id.clone());
    app.product(request).await;
    app.product(new_product(&category)).await;
    let list = ListRequest {
        include: vec!["category".into(), "taxRate".into()],
        ..ListRequest::default()
    };
    let request = wire::ListProductsRequest { list: Some(list) };
    let listed = app
        .admin
        .products()
        .list_products(request)
        .await
        .unwrap()
        .into_inner();
    for product in &listed.products {
        assert_eq!(product.category.as_ref(), Some(&category));
    }
    assert_eq!(listed.products[0].tax_rate, Some(tax_rate));
    assert_eq!(listed.products[1].tax_rate, None);
}
