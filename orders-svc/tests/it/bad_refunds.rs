//! Refunds that are refused, and change nothing.

use platform::error::Code;
use proto::orders::v1::{RefundOrderRequest, RefundedLine};
use sqlx::PgPool;

use crate::{assertions::assert_refused, harness::TestApp};

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn bad_amounts_are_refused_and_change_nothing(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let order = app.paid_order("10.00").await;
    for (amount, code) in [
        ("10.01", Code::RefundExceedsPaid),
        ("9999999999999999999", Code::RefundExceedsPaid),
        ("0.001", Code::AmountPrecision),
        ("0", Code::ValidationFailed),
        ("-1", Code::ValidationFailed),
        ("1e1", Code::ValidationFailed),
        ("all", Code::ValidationFailed),
        ("", Code::ValidationFailed),
    ] {
        let refused = app.admin().refund(&order.id, amount).await;
        assert_refused(refused, code, &["amount"]);
    }
    assert_eq!(app.admin().get(&order.id).await.unwrap(), order);
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn either_an_amount_or_lines_are_refunded(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let order = app.paid_order("10.00").await;
    let line = RefundedLine {
        line_id: order.lines[0].id.clone(),
        quantity: 1,
    };
    for (amount, lines) in [(None, Vec::new()), (Some("1".to_owned()), vec![line])] {
        let request = RefundOrderRequest {
            id: order.id.clone(),
            amount,
            lines,
            reason: None,
        };
        let refused = app.admin().refund_order(request).await;
        assert_refused(refused, Code::ValidationFailed, &["amount", "lines"]);
    }
    for reason in ["{}", "1", "null", "nonsense"] {
        let request = RefundOrderRequest {
            id: order.id.clone(),
            amount: Some("1".into()),
            reason: Some(reason.into()),
            lines: Vec::new(),
        };
        let refused = app.admin().refund_order(request).await;
        assert_refused(refused, Code::ValidationFailed, &["reason"]);
    }
    assert_eq!(app.admin().get(&order.id).await.unwrap(), order);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn bad_lines_are_refused_and_change_nothing(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let order = app.paid_order("10.00").await;
    let line = order.lines[0].id.as_str();
    let of_another = app.unpaid_order("1.00").await.lines[0].id.clone();
    let unknown = app.new_id();
    for (lines, field) in [
        (vec![(line, 2)], "lines[0].quantity"),
        (vec![(line, 0)], "lines[0].quantity"),
        (vec![(line, 1_000_001)], "lines[0].quantity"),
        (vec![(line, u32::MAX)], "lines[0].quantity"),
        (vec![(line, 1), (line, 1)], "lines[1].lineId"),
        (vec![(line, 1), (&unknown, 1)], "lines[1].lineId"),
        (vec![(&of_another, 1)], "lines[0].lineId"),
        (vec![("x", 1)], "lines[0].lineId"),
        (vec![(line, 1); 201], "lines"),
    ] {
        let refused = app.admin().refund_lines(&order.id, &lines).await;
        let failure = refused.unwrap_err();
        assert_eq!(failure.code, Code::ValidationFailed);
        assert_eq!(failure.fields[0].field, field);
    }
    assert_eq!(app.admin().get(&order.id).await.unwrap(), order);
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn what_was_not_paid_is_not_refunded(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let order = app.unpaid_order("10.00").await;
    let (id, line) = (&order.id, order.lines[0].id.as_str());
    let unpaid = app.admin().refund(id, "0.01").await;
    assert_refused(unpaid, Code::RefundExceedsPaid, &["amount"]);
    app.admin().pay(id, Some("9.99")).await.unwrap();
    let by_lines = app.admin().refund_lines(id, &[(line, 1)]).await;
    assert_refused(by_lines, Code::RefundExceedsPaid, &["lines"]);
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn an_order_of_amount_zero_has_nothing_to_refund(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let order = app.unpaid_order("0").await;
    let (id, line) = (&order.id, order.lines[0].id.as_str());
    let by_amount = app.admin().refund(id, "0.01").await;
    assert_refused(by_amount, Code::RefundExceedsPaid, &["amount"]);
    let by_lines = app.admin().refund_lines(id, &[(line, 1)]).await;
    assert_refused(by_lines, Code::ValidationFailed, &["lines"]);
    assert_eq!(app.admin().get(id).await.unwrap(), order);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn after_100_refunds_only_everything_is_refunded(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.paid_order("10.00").await.id;
    for _ in 0..100 {
        app.admin().refund(&id, "0.01").await.unwrap();
    }
    let more = app.admin().refund(&id, "0.01").await;
    assert_refused(more, Code::InvalidState, &[]);
    app.admin().refund(&id, "9.00").await.unwrap();
    assert_eq!(app.balance("usd"), "100.00000000");
    app.assert_settled().await;
}
