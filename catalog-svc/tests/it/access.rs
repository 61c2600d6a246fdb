//! Who may do what.

use platform::error::Code;
use proto::catalog::v1 as wire;
use sqlx::PgPool;

use crate::harness::{TestApp, empty, new_product, new_question, rejection};

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn users_read_and_admins_write(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let forbidden = [
        rejection(app.user.categories().create_category(empty()).await),
        rejection(app.user.categories().update_category(empty()).await),
        rejection(app.user.categories().delete_category(empty()).await),
        rejection(app.user.tax_rates().create_tax_rate(empty()).await),
        rejection(app.user.tax_rates().update_tax_rate(empty()).await),
        rejection(app.user.tax_rates().delete_tax_rate(empty()).await),
        rejection(app.user.products().create_product(empty()).await),
        rejection(app.user.products().update_product(empty()).await),
        rejection(app.user.products().delete_product(empty()).await),
        rejection(app.user.quotes().quote(empty()).await),
        rejection(app.user.questions().create_question(empty()).await),
        rejection(app.user.questions().update_question(empty()).await),
        rejection(app.user.questions().delete_question(empty()).await),
        rejection(
            app.user
                .product_questions()
                .create_product_question(empty())
                .await,
        ),
        rejection(
            app.user
                .product_questions()
                .delete_product_question(empty())
                .await,
        ),
        rejection(
            app.user
                .product_questions()
                .reorder_product_question(empty())
                .await,
        ),
    ];
    assert!(
        forbidden
            .iter()
            .all(|rejected| rejected.code == Code::Forbidden)
    );

    let (category, tax_rate) = (app.category("Shoes").await, app.tax_rate("20").await);
    let get = wire::GetCategoryRequest { id: category.id };
    app.user.categories().get_category(get).await.unwrap();
    app.user
        .categories()
        .list_categories(empty())
        .await
        .unwrap();
    let question = app.question(new_question("Size?")).await;
    let get = wire::GetQuestionRequest { id: question.id };
    app.user.questions().get_question(get).await.unwrap();
    for list in [
        app.user.questions().list_questions(empty()).await.map(drop),
        app.user
            .questions()
            .list_question_types(empty())
            .await
            .map(drop),
    ] {
        list.unwrap();
    }
    let get = wire::GetTaxRateRequest { id: tax_rate.id };
    app.user.tax_rates().get_tax_rate(get).await.unwrap();
    app.user.tax_rates().list_tax_rates(empty()).await.unwrap();
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn users_see_only_visible_products(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let category = app.category("Shoes").await;
    let shown = app.product(new_product(&category)).await;
    let mut request = new_product(&category);
    request.visible = Some(false);
    let hidden = app.product(request).await;

    let get = |id: &str| wire::GetProductRequest {
        id: id.into(),
        include: Vec::new(),
    };
    app.user
        .products()
        .get_product(get(&shown.id))
        .await
        .unwrap();
    let rejected = rejection(app.user.products().get_product(get(&hidden.id)).await);
    assert_eq!(rejected.code, Code::ProductNotFound);
    app.admin
        .products()
        .get_product(get(&hidden.id))
        .await
        .unwrap();

    let seen = app.user.products().list_products(empty()).await.unwrap();
    let seen = seen.into_inner();
    assert_eq!((seen.page.unwrap().total, seen.products), (1, vec![shown]));
    let all = app.admin.products().list_products(empty()).await.unwrap();
    assert_eq!(all.into_inner().products.len(), 2);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn calls_without_a_token_are_unauthenticated(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let rejected = rejection(app.anonymous.products().list_products(empty()).await);
    assert_eq!(rejected.code, Code::Unauthenticated);
}
