//! The questions of a product and their order.

use platform::{error::Code, idempotency};
use proto::{catalog::v1 as wire, common::v1::ListRequest};
use sqlx::PgPool;

use crate::harness::{TestApp, UNKNOWN, invalid, keyed, new_product, new_question, rejection};

/// Creates a product with the questions A to D.
async fn shop(app: &TestApp) -> (wire::Product, Vec<String>) {
    let category = app.category("Shoes").await;
    let product = app.product(new_product(&category)).await;
    let mut ids = Vec::new();
    for title in ["A", "B", "C", "D"] {
        let question = app.question(new_question(title)).await;
        app.link(&product.id, &question.id).await.unwrap();
        ids.push(question.id);
    }
    (product, ids)
}

/// The questions of a product in their order.
struct Questions {
    titles: String,
    ranks: Vec<String>,
}

/// Reads the titles and ranks of a product's questions.
async fn questions(app: &TestApp, product_id: &str) -> Questions {
    let request = wire::GetProductRequest {
        id: product_id.into(),
        include: vec!["questions".into()],
    };
    let response = app.admin.products().get_product(request).await.unwrap();
    let product = response.into_inner().product.unwrap();
    let linked = product.questions.unwrap().questions.into_iter();
    let (titles, ranks) = linked
        .map(|linked| (linked.question.unwrap().title, linked.order))
        .unzip();
    Questions { titles, ranks }
}

async fn reorder(
    app: &TestApp,
    product_id: &str,
    question_id: &str,
    next: Option<&str>,
) -> Result<tonic::Response<wire::ReorderProductQuestionResponse>, tonic::Status> {
    let request = wire::ReorderProductQuestionRequest {
        product_id: product_id.into(),
        question_id: question_id.into(),
        subsequent_id: next.map(str::to_owned),
    };
    app.admin
        .product_questions()
        .reorder_product_question(request)
        .await
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_question_is_attached_last_and_once(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (product, ids) = shop(&app).await;
    let attached = questions(&app, &product.id).await;
    assert_eq!(attached.titles, "ABCD");
    assert_eq!(attached.ranks, ["1", "2", "3", "4"]);

    let again = app.link(&product.id, &ids[0]).await;
    let rejected = rejection(again);
    assert_eq!(rejected.code, Code::QuestionAlreadyLinked);
    for (id, code) in [(UNKNOWN, "unknown_reference"), ("x", "format")] {
        let rejected = app.link(&product.id, id).await;
        let rejected = rejection(rejected);
        assert_eq!(rejected, invalid("questionId", code));
    }
    let rejected = app.link(UNKNOWN, &ids[0]).await;
    let rejected = rejection(rejected);
    assert_eq!(rejected.code, Code::ProductNotFound);

    // Each link is a change of the product; a rejection is none.
    assert_eq!(app.event_types(&product.id).await.len(), 5);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_detached_question_is_gone_from_its_product(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (product, ids) = shop(&app).await;
    let delete = |product_id: &str, question_id: &str| wire::DeleteProductQuestionRequest {
        product_id: product_id.into(),
        question_id: question_id.into(),
    };
    let deleted = delete(&product.id, &ids[1]);
    app.admin
        .product_questions()
        .delete_product_question(deleted)
        .await
        .unwrap();
    assert_eq!(questions(&app, &product.id).await.titles, "ACD");
    for (product_id, question_id, code) in [
        (&*product.id, &*ids[1], Code::ProductQuestionNotFound),
        (&*product.id, "x", Code::ProductQuestionNotFound),
        (UNKNOWN, &*ids[0], Code::ProductNotFound),
    ] {
        let request = delete(product_id, question_id);
        let rejected = rejection(
            app.admin
                .product_questions()
                .delete_product_question(request)
                .await,
        );
        assert_eq!(rejected.code, code);
    }
    app.link(&product.id, &ids[1]).await.unwrap();
    assert_eq!(questions(&app, &product.id).await.titles, "ACDB");
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn questions_move_within_their_product(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (product, ids) = shop(&app).await;
    let id = product.id.as_str();
    for (from, next, expected) in [
        (0, Some(3), "BCAD"),
        (0, None, "BCDA"),
        (0, Some(0), "BCDA"),
        (3, Some(1), "DBCA"),
    ] {
        let next = next.map(|next: usize| ids[next].as_str());
        reorder(&app, id, &ids[from], next).await.unwrap();
        assert_eq!(questions(&app, id).await.titles, expected);
    }

    let other = app
        .product(wire::CreateProductRequest {
            category_id: product.category_id.clone(),
            price: "1".into(),
            ..Default::default()
        })
        .await;
    let foreign = app.question(new_question("E")).await;
    app.link(&other.id, &foreign.id).await.unwrap();
    for (next, code) in [
        (foreign.id.as_str(), "unknown_reference"),
        (UNKNOWN, "unknown_reference"),
        ("x", "format"),
    ] {
        let rejected = rejection(reorder(&app, id, &ids[0], Some(next)).await);
        assert_eq!(rejected, invalid("subsequentId", code));
    }
    let rejected = rejection(reorder(&app, id, &foreign.id, None).await);
    assert_eq!(rejected.code, Code::ProductQuestionNotFound);
    assert_eq!(questions(&app, id).await.titles, "DBCA");
    assert_eq!(questions(&app, &other.id).await.titles, "E");
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn lists_embed_requested_questions(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (product, _) = shop(&app).await;
    let silent = wire::CreateProductRequest {
        category_id: product.category_id.clone(),
        price: "1".into(),
        ..Default::default()
    };
    app.product(silent).await;
    for (include, expected) in [
        (vec!["questions".to_owned()], [Some(4), Some(0)]),
        (Vec::new(), [None, None]),
    ] {
        let list = ListRequest {
            include,
            ..ListRequest::default()
        };
        let request = wire::ListProductsRequest { list: Some(list) };
        let response = app.admin.products().list_products(request).await;
        let products = response.unwrap().into_inner().products.into_iter();
        let counts = products.map(|product| product.questions.map(|all| all.questions.len()));
        assert!(counts.eq(expected));
    }
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_repeated_attach_or_move_replays_its_response(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (product, ids) = shop(&app).await;
    let question = app.question(new_question("E")).await;
    for replayed in [false, true] {
        let request = wire::CreateProductQuestionRequest {
            product_id: product.id.clone(),
            question_id: question.id.clone(),
        };
        let request = keyed(request, "POST /products/x/questions", "aa");
        let created = app
            .admin
            .product_questions()
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
        let moved = app
            .admin
            .product_questions()
            .reorder_product_question(request)
            .await
            .unwrap();
        assert_eq!(idempotency::is_replay(moved.metadata()), replayed);
    }
    assert_eq!(questions(&app, &product.id).await.titles, "EABCD");
}
