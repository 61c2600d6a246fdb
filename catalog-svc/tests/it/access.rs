//! Who may do what.

use platform::error::Code;
use proto::catalog::v1 as wire;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use tonic::Request;

use crate::harness::{Catalog, new_product, new_question, refusal, service, user};

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn users_read_and_admins_write(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let forbidden = [
        refusal(
            catalog
                .categories
                .create_category(user(Default::default()))
                .await,
        ),
        refusal(
            catalog
                .categories
                .update_category(user(Default::default()))
                .await,
        ),
        refusal(
            catalog
                .categories
                .delete_category(user(Default::default()))
                .await,
        ),
        refusal(
            catalog
                .tax_rates
                .create_tax_rate(user(Default::default()))
                .await,
        ),
        refusal(
            catalog
                .tax_rates
                .update_tax_rate(user(Default::default()))
                .await,
        ),
        refusal(
            catalog
                .tax_rates
                .delete_tax_rate(user(Default::default()))
                .await,
        ),
        refusal(
            catalog
                .products
                .create_product(user(Default::default()))
                .await,
        ),
        refusal(
            catalog
                .products
                .update_product(user(Default::default()))
                .await,
        ),
        refusal(
            catalog
                .products
                .delete_product(user(Default::default()))
                .await,
        ),
        refusal(catalog.quotes.quote(user(Default::default())).await),
        refusal(
            catalog
                .questions
                .create_question(user(Default::default()))
                .await,
        ),
        refusal(
            catalog
                .questions
                .update_question(user(Default::default()))
                .await,
        ),
        refusal(
            catalog
                .questions
                .delete_question(user(Default::default()))
                .await,
        ),
        refusal(
            catalog
                .links
                .create_product_question(user(Default::default()))
                .await,
        ),
        refusal(
            catalog
                .links
                .delete_product_question(user(Default::default()))
                .await,
        ),
        refusal(
            catalog
                .links
                .reorder_product_question(user(Default::default()))
                .await,
        ),
    ];
    assert!(forbidden.iter().all(|(code, _)| *code == Code::Forbidden));

    let (category, tax_rate) = (
        catalog.category("Shoes").await,
        catalog.tax_rate("20").await,
    );
    let get = wire::GetCategoryRequest { id: category.id };
    catalog.categories.get_category(user(get)).await.unwrap();
    catalog
        .categories
        .list_categories(user(Default::default()))
        .await
        .unwrap();
    let question = catalog.question(new_question("Size?")).await;
    let get = wire::GetQuestionRequest { id: question.id };
    catalog.questions.get_question(user(get)).await.unwrap();
    for list in [
        catalog
            .questions
            .list_questions(user(Default::default()))
            .await
            .map(drop),
        catalog
            .questions
            .list_question_types(user(Default::default()))
            .await
            .map(drop),
    ] {
        list.unwrap();
    }
    let get = wire::GetTaxRateRequest { id: tax_rate.id };
    catalog.tax_rates.get_tax_rate(user(get)).await.unwrap();
    catalog
        .tax_rates
        .list_tax_rates(user(Default::default()))
        .await
        .unwrap();
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn users_know_of_visible_products_only(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let category = catalog.category("Shoes").await;
    let shown = catalog.product(new_product(&category)).await;
    let mut request = new_product(&category);
    request.visible = Some(false);
    let hidden = catalog.product(request).await;

    let get = |id: &str| wire::GetProductRequest {
        id: id.into(),
        include: Vec::new(),
    };
    catalog
        .products
        .get_product(user(get(&shown.id)))
        .await
        .unwrap();
    let refused = refusal(catalog.products.get_product(user(get(&hidden.id))).await);
    assert_eq!(refused.0, Code::ProductNotFound);
    catalog
        .products
        .get_product(service(get(&hidden.id)))
        .await
        .unwrap();

    let seen = catalog
        .products
        .list_products(user(Default::default()))
        .await
        .unwrap();
    let seen = seen.into_inner();
    assert_eq!((seen.page.unwrap().total, seen.products), (1, vec![shown]));
    let all = catalog
        .products
        .list_products(service(Default::default()))
        .await
        .unwrap();
    assert_eq!(all.into_inner().products.len(), 2);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn nobody_gets_in_without_a_token(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let refused = refusal(
        catalog
            .products
            .list_products(Request::new(Default::default()))
            .await,
    );
    assert_eq!(refused.0, Code::Unauthenticated);
}
