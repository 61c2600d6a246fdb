//! Answers to the questions of products.

use platform::error::{Code, FieldCode};
use proto::catalog::v1::AnswerError;
use sqlx::PgPool;

use crate::{
    assertions::assert_refused,
    harness::{TestApp, quote},
};

const QUESTION: &str = "0192abcd-0000-7000-8000-00000000000f";

impl TestApp {
    /// Adds a product with a question that has to be answered.
    fn add_product_with_question(&self) -> String {
        let mut quote = quote("10.00", "0", "0");
        quote.answer_errors = vec![AnswerError {
            path: QUESTION.into(),
            code: "required".into(),
            message: "must be answered".into(),
        }];
        self.add_quote(quote)
    }
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn answers_are_stored_with_their_line(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let plain = app.add_product("10.00", "0", "0");
    let with_question = app.add_product_with_question();
    let mut cart = app.cart(&[(&plain, 1), (&with_question, 1)]);
    let answers = format!(r#"{{"{QUESTION}": ["red"], "n": 1.10}}"#);
    cart.lines[1].product_questions_result = Some(answers.clone());
    let order = app.admin().create(cart).await.unwrap();
    assert!(!order.lines[0].metadata.contains("productQuestionsResult"));
    let metadata = format!(r#","productQuestionsResult":{answers}}}"#);
    assert!(order.lines[1].metadata.ends_with(&metadata));
    assert_eq!(app.admin().get(&order.id).await.unwrap(), order);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn missing_answers_refuse_the_order_and_its_dry_run(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let plain = app.add_product("10.00", "0", "0");
    let with_question = app.add_product_with_question();
    let mut cart = app.cart(&[(&plain, 1), (&with_question, 1)]);
    for dry_run in [false, true] {
        cart.dry_run = dry_run;
        let refused = app.admin().create(cart.clone()).await;
        let field = format!("lines[1].productQuestionsResult.{QUESTION}");
        let failure = assert_refused(refused, Code::ValidationFailed, &[&field]);
        assert_eq!(failure.fields[0].code, FieldCode::Required);
        assert_eq!(failure.fields[0].message, "must be answered");
    }
    assert_eq!(app.count("orders").await, 0);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn answers_are_an_object(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let product = app.add_product_with_question();
    let mut cart = app.cart(&[(&product, 1)]);
    for dry_run in [false, true] {
        cart.dry_run = dry_run;
        cart.lines[0].product_questions_result = Some("[]".into());
        let refused = app.admin().create(cart.clone()).await;
        let field = "lines[0].productQuestionsResult";
        assert_refused(refused, Code::ValidationFailed, &[field]);
    }
    cart.lines[0].product_questions_result = Some("{}".into());
    app.admin().create(cart).await.unwrap();
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_hidden_product_is_ordered_by_admins_only(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let mut hidden = quote("10.00", "0", "0");
    hidden.visible = Some(false);
    let hidden = app.add_quote(hidden);
    for dry_run in [false, true] {
        let mut cart = app.cart(&[(&hidden, 1)]);
        cart.dry_run = dry_run;
        let refused = app.client_of(&app.user).create(cart.clone()).await;
        assert_refused(refused, Code::ProductUnavailable, &["lines[0].productId"]);
        app.admin().create(cart).await.unwrap();
    }
    assert_eq!(app.count("orders").await, 1);
}
