//! Answers to the questions of products, and products that are not shown.

use proto::catalog::v1::AnswerError;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::bed::{Bed, quote, refused};

const QUESTION: &str = "0192abcd-0000-7000-8000-00000000000f";

fn missing() -> AnswerError {
    AnswerError {
        path: QUESTION.into(),
        code: "required".into(),
        message: "must be answered".into(),
    }
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn answers_are_kept_with_their_line(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    let (plain, asking) = (
        bed.add_product("10.00", "0", "0"),
        bed.add_product("10.00", "0", "0"),
    );
    let mut cart = bed.cart(&[(&plain, 1), (&asking, 1)]);
    let answers = format!(r#"{{"{QUESTION}": ["red"], "n": 1.10}}"#);
    cart.lines[1].product_questions_result = Some(answers.clone());
    let order = bed.create(cart).await.unwrap();
    assert_eq!(order.lines[0].metadata, "{}");
    let metadata = format!(r#"{{"productQuestionsResult":{answers}}}"#);
    assert_eq!(order.lines[1].metadata, metadata);
    assert_eq!(bed.get(&order.id).await, order);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn what_the_catalogue_says_against_answers_refuses_the_order(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let bed = Bed::new(options).await;
    let plain = bed.add_product("10.00", "0", "0");
    let mut asking = quote("10.00", "0", "0");
    asking.answer_errors = vec![missing()];
    let asking = bed.add_quote(asking);
    for dry_run in [false, true] {
        let mut cart = bed.cart(&[(&plain, 1), (&asking, 1)]);
        cart.dry_run = dry_run;
        let failure = bed.create(cart.clone()).await.unwrap_err();
        assert_eq!(failure.fields[0].code.as_str(), "required");
        let field = format!("lines[1].productQuestionsResult.{QUESTION}");
        let expected = ("validation_failed".into(), vec![field]);
        assert_eq!(refused::<()>(Err(failure)), expected);

        cart.lines[1].product_questions_result = Some("[]".into());
        let field = "lines[1].productQuestionsResult".to_owned();
        let expected = ("validation_failed".into(), vec![field]);
        assert_eq!(refused(bed.create(cart.clone()).await), expected);
        assert_eq!(bed.count("orders").await, 0);

        cart.dry_run = true;
        cart.lines[1].product_questions_result = Some("{}".into());
        bed.create(cart).await.unwrap();
    }
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn what_is_not_shown_cannot_be_ordered(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    let mut hidden = quote("10.00", "0", "0");
    hidden.visible = Some(false);
    let hidden = bed.add_quote(hidden);
    for dry_run in [false, true] {
        let mut cart = bed.cart(&[(&hidden, 1)]);
        cart.dry_run = dry_run;
        let field = "lines[0].productId".to_owned();
        let expected = ("product_unavailable".into(), vec![field]);
        assert_eq!(refused(bed.create(cart).await), expected);
    }
    assert_eq!(bed.count("orders").await, 0);
}
