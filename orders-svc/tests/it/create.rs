//! Placing orders: amounts, refusals, dry runs, and payment at once.

use proto::{
    events::v1::OrderPaid,
    orders::v1::{DeliveryMethod, NewOrderLine, OrderStatus, PaymentStatus},
};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::bed::{Bed, new_id, refused, state};

fn named(code: &str, field: &str) -> (String, Vec<String>) {
    (code.to_owned(), vec![field.to_owned()])
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn amounts_are_exact(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    let (lamp, desk) = (
        bed.add_product("24.99", "2.69", "0.50"),
        bed.add_product("10.00", "2.00", "1.00"),
    );
    let mut cart = bed.cart(&[(&lamp, 3), (&desk, 2), (&desk, 1)]);
    cart.set_delivery_method(DeliveryMethod::Shipping);
    cart.shipping_address_id = Some("home".into());
    cart.user_notes = Some("ring twice".into());
    cart.custom_data = Some(r#"{"n": 1.10}"#.into());
    let order = bed.create(cart).await.unwrap();

    assert_eq!(order.amount, "124.04000000");
    assert_eq!(order.taxes_amount, "14.07000000");
    assert_eq!(order.amount_without_taxes, "109.97000000");
    assert_eq!(order.shipping_amount, "5.00000000");
    assert_eq!(order.amount_without_shipment, "119.04000000");
    assert_eq!(
        (&*order.bonus, &*order.bonus_asset_code),
        ("4.50000000", "usd")
    );
    assert_eq!(
        (&*order.paid_amount, &*order.unpaid_amount),
        ("0.00000000", "124.04000000")
    );
    assert_eq!(order.custom_data, r#"{"n": 1.10}"#);
    assert_eq!(
        order.metadata,
        r#"{"deliveryMethod":"shipping","shippingAmount":"5.00000000","taxesAmount":"14.07000000","shippingAddressId":"home","userNotes":"ring twice"}"#
    );
    assert_eq!(order.reference.len(), 8);
    assert_eq!(order.lines.len(), 3);
    let line = &order.lines[0];
    assert_eq!(
        (line.quantity, &*line.unit_price, &*line.unit_tax),
        (3, "24.99000000", "2.69000000")
    );
    assert_eq!(line.tax_rate.as_deref(), Some("20.00000000"));
    let product = line.product.as_ref().unwrap();
    assert_eq!(
        (&*product.name, &*product.custom_data),
        ("Lamp", r#"{"n":1.10}"#)
    );
    assert_eq!(bed.events(&order.id).await, ["OrderPlaced"]);
    assert_eq!(bed.get(&order.id).await, order);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn later_edits_of_the_catalogue_change_no_order(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    let order = bed.place("10.00").await;
    bed.world.state().products.clear();
    let paid = bed.pay(&order.id, None).await.unwrap();
    assert_eq!(
        (&*paid.amount, &*paid.paid_amount),
        ("10.00000000", "10.00000000")
    );
    assert_eq!(paid.lines[0].product, order.lines[0].product);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn paying_at_once_makes_a_paid_order_or_none(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    let product = bed.add_product("60.00", "0", "3.00");
    let mut cart = bed.cart(&[(&product, 1)]);
    cart.wallet_id = Some(bed.user.primary_wallet_id.clone());
    let first = bed.create(cart.clone()).await.unwrap();
    assert_eq!(
        state(&first),
        (
            OrderStatus::Unfulfilled,
            PaymentStatus::FullyPaid,
            "60.00000000"
        )
    );
    assert!(first.paid_at.is_some());
    let events = bed.events(&first.id).await;
    assert_eq!(events, ["OrderPlaced", "OrderPaymentReceived", "OrderPaid"]);
    let paid: OrderPaid = bed.event(&first.id, "OrderPaid").await;
    assert_eq!(
        (&*paid.bonus, &paid.wallet_id),
        ("3.00000000", &bed.user.primary_wallet_id)
    );

    let refusal = refused(bed.create(cart).await);
    assert_eq!(refusal, named("insufficient_funds", "walletId"));
    assert_eq!(
        (bed.count("orders").await, bed.count("order_lines").await),
        (1, 1)
    );
    assert_eq!(bed.money(), "40.00000000");
    assert_eq!(bed.count("outbox").await, 3);
    bed.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn an_order_of_nothing_is_paid_when_it_is_placed(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let bed = Bed::new(options).await;
    let product = bed.add_product("0", "0", "1.00");
    let order = bed.create(bed.cart(&[(&product, 1)])).await.unwrap();
    assert_eq!(order.payment_status(), PaymentStatus::FullyPaid);
    assert_eq!(bed.events(&order.id).await, ["OrderPlaced", "OrderPaid"]);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn the_bonus_pays_first(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    let purse = new_id();
    bed.add_wallet(&purse, &bed.user.id);
    bed.world.fund(&purse, "usd", "7.00");
    bed.world.fund(&bed.user.primary_wallet_id, "usd", "3.00");
    let product = bed.add_product("10.00", "0", "0");
    let mut cart = bed.cart(&[(&product, 1)]);
    cart.use_bonus = true;
    cart.wallet_id = Some(purse.clone());
    let paid = bed.create(cart.clone()).await.unwrap();
    assert_eq!(paid.payment_status(), PaymentStatus::FullyPaid);
    assert_eq!(
        (&*bed.money(), &*bed.world.balance(&purse, "usd")),
        ("0.00000000", "0.00000000")
    );
    bed.cancel(&paid.id, None).await.unwrap();
    assert_eq!(
        (&*bed.money(), &*bed.world.balance(&purse, "usd")),
        ("3.00000000", "7.00000000")
    );

    // Alone it pays a part; with nothing there, nothing.
    cart.wallet_id = None;
    let part = bed.create(cart.clone()).await.unwrap();
    assert_eq!(
        state(&part),
        (OrderStatus::Unfulfilled, PaymentStatus::Paid, "3.00000000")
    );
    let none = bed.create(cart).await.unwrap();
    assert_eq!(none.payment_status(), PaymentStatus::Unpaid);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_bonus_without_a_rate_is_skipped(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    bed.world.state().bonus_asset_code = Some("points".into());
    let order = bed.place("10.00").await;
    assert_eq!(
        (&*order.bonus, &*order.bonus_asset_code),
        ("0.00000000", "points")
    );
    assert!(
        order
            .metadata
            .contains(r#""bonusSkipped":"rate_not_found""#)
    );
    let mut cart = bed.cart(&[(&order.lines[0].product_id, 1)]);
    cart.use_bonus = true;
    assert_eq!(
        refused(bed.create(cart).await),
        named("rate_not_found", "useBonus")
    );
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_line_without_quantity_is_one_unit(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    let mut cart = bed.cart(&[]);
    cart.lines.push(NewOrderLine {
        product_id: bed.add_product("1.00", "0", "0"),
        quantity: None,
        product_questions_result: None,
    });
    assert_eq!(bed.create(cart).await.unwrap().lines[0].quantity, 1);
}
