//! Receipts, and the amounts by tax rate and line that orders show.

use platform::error::Code;
use proto::orders::v1::OrderPaymentType;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::{
    assertions::assert_refused,
    harness::{TestApp, quote},
};

fn parsed(json: &str) -> Value {
    serde_json::from_str(json).unwrap()
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_receipt_sums_taxes_payments_and_refunds(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let taxed = app.add_product("10.00", "2.00", "3.00");
    let mut untaxed = quote("4.00", "0", "0");
    untaxed.tax_rate = None;
    let untaxed = app.add_quote(untaxed);
    let cart = app.cart(&[(&taxed, 3), (&untaxed, 1), (&taxed, 1)]);
    let order = app.admin().create(cart).await.unwrap();
    let (id, line) = (&order.id, &order.lines[0].id);
    app.admin().pay(id, Some("12")).await.unwrap();
    app.advance_clock();
    app.admin().pay(id, None).await.unwrap();
    app.advance_clock();
    app.admin().refund_lines(id, &[(line, 1)]).await.unwrap();
    let receipt = app.client_of(&app.user).receipt(id).await.unwrap();
    assert_eq!(receipt.received_amount, "52.00000000");
    assert_eq!(receipt.refunded_amount, "12.00000000");
    // 12.00 x 12.00 / 52.00, rounded up.
    assert_eq!(receipt.bonus_revoked, "2.77000000");
    assert_eq!(receipt.decimal_places, 2);
    assert_eq!(receipt.seller_name, "Corner Shop");
    let taxes: Vec<_> = receipt
        .taxes
        .iter()
        .map(|tax| (tax.rate.as_deref(), &*tax.taxable_amount, &*tax.tax_amount))
        .collect();
    let expected = [
        (Some("20.00000000"), "40.00000000", "8.00000000"),
        (None, "4.00000000", "0.00000000"),
    ];
    assert_eq!(taxes, expected);
    let (payment, refund) = (OrderPaymentType::Payment, OrderPaymentType::Refund);
    let payments: Vec<_> = receipt
        .payments
        .iter()
        .map(|it| (it.r#type(), &*it.amount))
        .collect();
    let expected = [
        (payment, "12.00000000"),
        (payment, "40.00000000"),
        (refund, "12.00000000"),
    ];
    assert_eq!(payments, expected);
    let amounts: Vec<_> = receipt
        .lines
        .iter()
        .map(|line| (&*line.amount, line.quantity, line.refunded_quantity))
        .collect();
    let expected = [
        ("36.00000000", 3, 1),
        ("4.00000000", 1, 0),
        ("12.00000000", 1, 0),
    ];
    assert_eq!(amounts, expected);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn orders_and_lines_show_their_amounts(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let product = app.add_product("10.00", "2.00", "3.00");
    let cart = app.cart(&[(&product, 3)]);
    let id = app.admin().create(cart).await.unwrap().id;
    app.admin().pay(&id, None).await.unwrap();
    let line = app.admin().get(&id).await.unwrap().lines[0].id.clone();
    let order = app.admin().refund_lines(&id, &[(&line, 2)]).await.unwrap();
    let taxes = json!([{"rate": "20.00000000", "taxableAmount": "30.00000000",
        "taxAmount": "6.00000000"}]);
    assert_eq!(parsed(&order.metadata)["taxes"], taxes);
    let expected = json!({"amount": "36.00000000", "amountWithoutTaxes": "30.00000000",
        "taxesAmount": "6.00000000", "bonus": "9.00000000", "refundedQuantity": 2});
    assert_eq!(parsed(&order.lines[0].metadata), expected);
    let alone = app.admin().get_line(&id, &line).await.unwrap();
    assert_eq!(parsed(&alone.metadata), expected);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn receipts_of_others_are_not_found(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.paid_order("10.00").await.id;
    let other = app.client_of(&app.add_user());
    let refused = other.receipt(&id).await;
    assert_refused(refused, Code::OrderNotFound, &[]);
    let unknown = app.admin().receipt("x").await;
    assert_refused(unknown, Code::OrderNotFound, &[]);
}
