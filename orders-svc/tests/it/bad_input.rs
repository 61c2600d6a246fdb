//! Malformed and invalid requests of every RPC but `CreateOrder`.

use platform::error::{Code, FieldCode};
use proto::{
    common::v1::ListRequest,
    orders::v1::{CancelOrderRequest, PayOrderRequest, UpdateOrderRequest},
};
use sqlx::PgPool;

use crate::{assertions::assert_refused, fakes::DEFAULT_WALLET, harness::TestApp};

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn bad_payments_are_refused_and_change_nothing(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let order = app.unpaid_order("120.00").await;
    let empty_wallet = app.add_wallet(&app.add_user().id);
    let unknown_wallet = app.new_id();
    let amount = |amount: &str| PayOrderRequest {
        id: order.id.clone(),
        amount: Some(amount.to_owned()),
        wallet_id: None,
    };
    let wallet = |wallet_id: Option<&str>| PayOrderRequest {
        id: order.id.clone(),
        amount: None,
        wallet_id: wallet_id.map(str::to_owned),
    };
    for (request, code, field) in [
        (amount("1e3"), Code::ValidationFailed, "amount"),
        (amount("-1"), Code::ValidationFailed, "amount"),
        (amount("0"), Code::ValidationFailed, "amount"),
        (amount("0.001"), Code::AmountPrecision, "amount"),
        (amount("120.01"), Code::PaymentExceedsUnpaid, "amount"),
        (wallet(None), Code::InsufficientFunds, "walletId"),
        (
            wallet(Some(&empty_wallet)),
            Code::InsufficientFunds,
            "walletId",
        ),
        (
            wallet(Some(DEFAULT_WALLET)),
            Code::ValidationFailed,
            "walletId",
        ),
        (wallet(Some("x")), Code::ValidationFailed, "walletId"),
        (
            wallet(Some(&unknown_wallet)),
            Code::ValidationFailed,
            "walletId",
        ),
    ] {
        let refused = app.admin().pay_order(request).await;
        assert_refused(refused, code, &[field]);
    }
    assert_eq!(app.admin().get(&order.id).await.unwrap(), order);
    assert_eq!(app.balance("usd"), "100.00000000");
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn the_default_wallet_cannot_pay_itself(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let order = app.unpaid_order("10.00").await;
    let refused = app.admin().pay_from(&order.id, DEFAULT_WALLET).await;
    let failure = assert_refused(refused, Code::ValidationFailed, &["walletId"]);
    assert_eq!(failure.fields[0].code, FieldCode::Duplicate);
    assert_eq!(failure.fields[0].message, "a wallet cannot pay itself");
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn bad_refunds_are_refused_and_change_nothing(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let order = app.paid_order("10.00").await;
    for (refund, code) in [
        ("10.01", Code::RefundExceedsPaid),
        ("0.001", Code::AmountPrecision),
        ("-1", Code::ValidationFailed),
        ("all", Code::ValidationFailed),
    ] {
        let refused = app.admin().cancel(&order.id, Some(refund)).await;
        assert_refused(refused, code, &["refundAmount"]);
    }
    assert_eq!(app.admin().get(&order.id).await.unwrap(), order);
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_reason_is_a_string_or_an_array(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.unpaid_order("10.00").await.id;
    let too_long = format!("\"{}\"", "x".repeat(2048));
    for reason in ["{}", "1", "null", "nonsense", &too_long] {
        let request = CancelOrderRequest {
            id: id.clone(),
            reason: Some(reason.into()),
            refund_amount: None,
        };
        let refused = app.admin().cancel_order(request).await;
        assert_refused(refused, Code::ValidationFailed, &["reason"]);
    }
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_quantity_is_positive_and_at_most_the_remaining_units(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let order = app.unpaid_order("1.00").await;
    let (id, line) = (&order.id, &order.lines[0].id);
    for quantity in [0, 2, u32::MAX] {
        let refused = app.admin().fulfil_line(id, line, Some(quantity)).await;
        assert_refused(refused, Code::ValidationFailed, &["quantity"]);
    }
    app.admin().fulfil_line(id, line, None).await.unwrap();
    for quantity in [0, 2, u32::MAX] {
        let refused = app.admin().unfulfil_line(id, line, Some(quantity)).await;
        assert_refused(refused, Code::ValidationFailed, &["quantity"]);
    }
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_tracking_id_is_a_uuid(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let order = app.unpaid_order("1.00").await;
    let fulfilled = app.admin().fulfil(&order.id, Some("x")).await;
    assert_refused(fulfilled, Code::ValidationFailed, &["trackingId"]);
    let updated = app.admin().track(&order.id, Some("x")).await;
    assert_refused(updated, Code::ValidationFailed, &["trackingId"]);
    // A field that the mask does not name is not read.
    let unmasked = UpdateOrderRequest {
        id: order.id.clone(),
        tracking_id: Some("x".into()),
        update_mask: None,
    };
    assert_eq!(app.admin().update(unmasked).await.unwrap(), order);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn unknown_and_malformed_order_ids_are_not_found(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let admin = app.admin();
    let line = app.unpaid_order("1.00").await.lines[0].id.clone();
    for id in [app.new_id().as_str(), "x"] {
        let code = Code::OrderNotFound;
        let failure = assert_refused(admin.get(id).await, code, &[]);
        assert_eq!(failure.detail, "order not found");
        assert_refused(admin.track(id, None).await, code, &[]);
        assert_refused(admin.pay(id, None).await, code, &[]);
        assert_refused(admin.cancel(id, None).await, code, &[]);
        assert_refused(admin.refund(id, "1").await, code, &[]);
        assert_refused(admin.fulfil(id, None).await, code, &[]);
        assert_refused(admin.unfulfil(id).await, code, &[]);
        assert_refused(admin.get_line(id, &line).await, code, &[]);
        let lines = admin.list_lines(id, ListRequest::default()).await;
        assert_refused(lines, code, &[]);
        assert_refused(admin.fulfil_line(id, &line, None).await, code, &[]);
        assert_refused(admin.unfulfil_line(id, &line, None).await, code, &[]);
    }
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn unknown_and_malformed_line_ids_are_not_found(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let admin = app.admin();
    let order = app.unpaid_order("1.00").await;
    let line_of_another = app.unpaid_order("1.00").await.lines[0].id.clone();
    for line in [app.new_id().as_str(), "x", &line_of_another] {
        let code = Code::OrderLineNotFound;
        let failure = assert_refused(admin.get_line(&order.id, line).await, code, &[]);
        assert_eq!(failure.detail, "order line not found");
        let fulfilled = admin.fulfil_line(&order.id, line, None).await;
        assert_refused(fulfilled, code, &[]);
        let unfulfilled = admin.unfulfil_line(&order.id, line, None).await;
        assert_refused(unfulfilled, code, &[]);
    }
}
