//! Which questions a product asks, and in which order.

use platform::{error::Code, idempotency};
use proto::{catalog::v1 as wire, common::v1::ListRequest};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::harness::{Catalog, admin, invalid, keyed, new_product, new_question, refusal};

const UNKNOWN: &str = "0192abcd-0000-7000-8000-00000000000f";

/// A product that asks A to D.
async fn shop(catalog: &mut Catalog) -> (wire::Product, Vec<String>) {
    let category = catalog.category("Shoes").await;
    let product = catalog.product(new_product(&category)).await;
    let mut ids = Vec::new();
    for title in ["A", "B", "C", "D"] {
        let question = catalog.question(new_question(title)).await;
        catalog.link(&product.id, &question.id).await.unwrap();
        ids.push(question.id);
    }
    (product, ids)
}

/// What the product asks: titles and keys.
async fn asked(catalog: &mut Catalog, product_id: &str) -> (String, Vec<String>) {
    let request = wire::GetProductRequest {
        id: product_id.into(),
        include: vec!["questions".into()],
    };
    let answer = catalog.products.get_product(admin(request)).await.unwrap();
    let product = answer.into_inner().product.unwrap();
    let linked = product.questions.unwrap().questions.into_iter();
    linked
        .map(|linked| (linked.question.unwrap().title, linked.order))
        .unzip()
}

async fn reorder(
    catalog: &mut Catalog,
    product_id: &str,
    question_id: &str,
    next: Option<&str>,
) -> Result<tonic::Response<wire::ReorderProductQuestionResponse>, tonic::Status> {
    let request = wire::ReorderProductQuestionRequest {
        product_id: product_id.into(),
        question_id: question_id.into(),
        subsequent_id: next.map(str::to_owned),
    };
    catalog.links.reorder_product_question(admin(request)).await
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn links_come_last_and_once(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let (product, ids) = shop(&mut catalog).await;
    let (titles, keys) = asked(&mut catalog, &product.id).await;
    assert_eq!((titles.as_str(), keys.concat().as_str()), ("ABCD", "1234"));

    let again = catalog.link(&product.id, &ids[0]).await;
    let refused = refusal(again.map(tonic::Response::new));
    assert_eq!(refused.0, Code::QuestionAlreadyLinked);
    for (id, code) in [(UNKNOWN, "unknown_reference"), ("x", "format")] {
        let refused = catalog.link(&product.id, id).await;
        let refused = refusal(refused.map(tonic::Response::new));
        assert_eq!(refused, invalid("questionId", code));
    }
    let refused = catalog.link(UNKNOWN, &ids[0]).await;
    let refused = refusal(refused.map(tonic::Response::new));
    assert_eq!(refused.0, Code::ProductNotFound);

    // Each link is a change of the product; the refusals are none.
    assert_eq!(catalog.events(&product.id).await.len(), 5);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn an_unlinked_question_is_asked_no_more(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let (product, ids) = shop(&mut catalog).await;
    let delete = |product_id: &str, question_id: &str| {
        admin(wire::DeleteProductQuestionRequest {
            product_id: product_id.into(),
            question_id: question_id.into(),
        })
    };
    let deleted = delete(&product.id, &ids[1]);
    catalog
        .links
        .delete_product_question(deleted)
        .await
        .unwrap();
    assert_eq!(asked(&mut catalog, &product.id).await.0, "ACD");
    for (product_id, question_id, code) in [
        (&*product.id, &*ids[1], Code::ProductQuestionNotFound),
        (&*product.id, "x", Code::ProductQuestionNotFound),
        (UNKNOWN, &*ids[0], Code::ProductNotFound),
    ] {
        let request = delete(product_id, question_id);
        let refused = refusal(catalog.links.delete_product_question(request).await);
        assert_eq!(refused.0, code);
    }
    catalog.link(&product.id, &ids[1]).await.unwrap();
    assert_eq!(asked(&mut catalog, &product.id).await.0, "ACDB");
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn questions_move_within_their_product(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let (product, ids) = shop(&mut catalog).await;
    let id = product.id.as_str();
    for (from, next, expected) in [
        (0, Some(3), "BCAD"),
        (0, None, "BCDA"),
        (0, Some(0), "BCDA"),
        (3, Some(1), "DBCA"),
    ] {
        let next = next.map(|next: usize| ids[next].as_str());
        reorder(&mut catalog, id, &ids[from], next).await.unwrap();
        assert_eq!(asked(&mut catalog, id).await.0, expected);
    }

    let other = catalog
        .product(wire::CreateProductRequest {
            category_id: product.category_id.clone(),
            price: "1".into(),
            ..Default::default()
        })
        .await;
    let foreign = catalog.question(new_question("E")).await;
    catalog.link(&other.id, &foreign.id).await.unwrap();
    for (next, code) in [
        (foreign.id.as_str(), "unknown_reference"),
        (UNKNOWN, "unknown_reference"),
        ("x", "format"),
    ] {
        let refused = refusal(reorder(&mut catalog, id, &ids[0], Some(next)).await);
        assert_eq!(refused, invalid("subsequentId", code));
    }
    let refused = refusal(reorder(&mut catalog, id, &foreign.id, None).await);
    assert_eq!(refused.0, Code::ProductQuestionNotFound);
    assert_eq!(asked(&mut catalog, id).await.0, "DBCA");
    assert_eq!(asked(&mut catalog, &other.id).await.0, "E");
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn lists_embed_questions_where_asked(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let (product, _) = shop(&mut catalog).await;
    let silent = wire::CreateProductRequest {
        category_id: product.category_id.clone(),
        price: "1".into(),
        ..Default::default()
    };
    catalog.product(silent).await;
    for (include, expected) in [
        (vec!["questions".to_owned()], [Some(4), Some(0)]),
        (Vec::new(), [None, None]),
    ] {
        let list = ListRequest {
            include,
            ..ListRequest::default()
        };
        let request = wire::ListProductsRequest { list: Some(list) };
        let answer = catalog.products.list_products(admin(request)).await;
        let products = answer.unwrap().into_inner().products.into_iter();
        let counts = products.map(|product| product.questions.map(|all| all.questions.len()));
        assert!(counts.eq(expected));
    }
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_key_has_one_effect(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let (product, ids) = shop(&mut catalog).await;
    let question = catalog.question(new_question("E")).await;
    for replayed in [false, true] {
        let request = wire::CreateProductQuestionRequest {
            product_id: product.id.clone(),
            question_id: question.id.clone(),
        };
        let request = keyed(request, "POST /products/x/questions", "aa");
        let created = catalog
            .links
            .create_product_question(request)
            .await
            .unwrap();
        assert_eq!(idempotency::is_replay(created.metadata()), replayed);
    }
    for replayed in [false, true] {
        let request = wire::ReorderProductQuestionRequest {
            product_id: product.id.clone(),
            question_id: question.id.clone(),
            subsequent_id: Some(ids[0].clone()),
        };
        let request = keyed(request, "POST /products/x/questions/y/reorder", "aa");
        let moved = catalog
            .links
            .reorder_product_question(request)
            .await
            .unwrap();
        assert_eq!(idempotency::is_replay(moved.metadata()), replayed);
    }
    assert_eq!(asked(&mut catalog, &product.id).await.0, "EABCD");
}
