//! Creates orders: what they keep of the cart and the catalogue.

use prost_types::Timestamp;
use proto::{
    catalog::v1::CategorySnapshot,
    orders::v1::{DeliveryMethod, NewOrderLine, PaymentStatus},
};
use sqlx::PgPool;

use crate::harness::{TestApp, quote};

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_created_order_has_exact_amounts_and_is_returned_whole(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let lamp = app.add_product("24.99", "2.69", "0.50");
    let desk = app.add_product("10.00", "2.00", "1.00");
    let mut cart = app.cart(&[(&lamp, 3), (&desk, 1)]);
    cart.set_delivery_method(DeliveryMethod::Shipping);
    cart.shipping_address_id = Some("home".into());
    cart.chosen_payment_method = Some("card".into());
    cart.user_notes = Some("ring twice".into());
    cart.custom_data = Some(r#"{"n": 1.10}"#.into());
    let order = app.admin().create(cart).await.unwrap();
    insta::assert_debug_snapshot!(order, @r#"
    Order {
        id: "018bcfe5-6800-710a-adec-89025cc10000",
        user_id: "018bcfe5-6800-7758-b5de-1c9756ce0000",
        asset_code: "usd",
        amount: "100.04000000",
        amount_without_shipment: "95.04000000",
        amount_without_taxes: "89.97000000",
        shipping_amount: "5.00000000",
        taxes_amount: "10.07000000",
        bonus: "2.50000000",
        bonus_asset_code: "usd",
        paid_amount: "0.00000000",
        unpaid_amount: "100.04000000",
        order_status: Unfulfilled,
        payment_status: Unpaid,
        delivery_method: Shipping,
        tracking_id: None,
        reference: "B8J54Q3J",
        paid_at: None,
        fulfilled_at: None,
        canceled_at: None,
        lines: [
            OrderLine {
                id: "018bcfe5-6801-7eeb-8da1-658eec670000",
                order_id: "018bcfe5-6800-710a-adec-89025cc10000",
                product_id: "018bcfe5-6802-787b-bcbf-dd7e532f0000",
                product: Some(
                    OrderedProduct {
                        id: "018bcfe5-6802-787b-bcbf-dd7e532f0000",
                        name: "Lamp",
                        description: None,
                        type_code: "",
                        image: None,
                        thumbnail: None,
                        custom_data: "",
                        metadata: "",
                        category: None,
                    },
                ),
                quantity: 3,
                fulfilled_quantity: 0,
                status: Unfulfilled,
                unit_price: "24.99000000",
                unit_tax: "2.69000000",
                tax_rate: Some(
                    "20.00000000",
                ),
                unit_bonus: "0.50000000",
                asset_code: "usd",
                bonus_asset_code: "usd",
                fulfilled_at: None,
                metadata: "{\"amount\":\"83.04000000\",\"amountWithoutTaxes\":\"74.97000000\",\"taxesAmount\":\"8.07000000\",\"bonus\":\"1.50000000\",\"refundedQuantity\":0}",
                created_at: Some(
                    Timestamp {
                        seconds: 1769853600,
                        nanos: 0,
                    },
                ),
                updated_at: Some(
                    Timestamp {
                        seconds: 1769853600,
                        nanos: 0,
                    },
                ),
            },
            OrderLine {
                id: "018bcfe5-6802-7893-a2ee-fb32555e0000",
                order_id: "018bcfe5-6800-710a-adec-89025cc10000",
                product_id: "018bcfe5-6803-73f2-827a-ffe7f6640000",
                product: Some(
                    OrderedProduct {
                        id: "018bcfe5-6803-73f2-827a-ffe7f6640000",
                        name: "Lamp",
                        description: None,
                        type_code: "",
                        image: None,
                        thumbnail: None,
                        custom_data: "",
                        metadata: "",
                        category: None,
                    },
                ),
                quantity: 1,
                fulfilled_quantity: 0,
                status: Unfulfilled,
                unit_price: "10.00000000",
                unit_tax: "2.00000000",
                tax_rate: Some(
                    "20.00000000",
                ),
                unit_bonus: "1.00000000",
                asset_code: "usd",
                bonus_asset_code: "usd",
                fulfilled_at: None,
                metadata: "{\"amount\":\"12.00000000\",\"amountWithoutTaxes\":\"10.00000000\",\"taxesAmount\":\"2.00000000\",\"bonus\":\"1.00000000\",\"refundedQuantity\":0}",
                created_at: Some(
                    Timestamp {
                        seconds: 1769853600,
                        nanos: 0,
                    },
                ),
                updated_at: Some(
                    Timestamp {
                        seconds: 1769853600,
                        nanos: 0,
                    },
                ),
            },
        ],
        metadata: "{\"deliveryMethod\":\"shipping\",\"shippingAmount\":\"5.00000000\",\"taxesAmount\":\"10.07000000\",\"taxes\":[{\"rate\":\"20.00000000\",\"taxableAmount\":\"84.97000000\",\"taxAmount\":\"10.07000000\"}],\"shippingAddressId\":\"home\",\"chosenPaymentMethod\":\"card\",\"userNotes\":\"ring twice\"}",
        custom_data: "{\"n\": 1.10}",
        created_at: Some(
            Timestamp {
                seconds: 1769853600,
                nanos: 0,
            },
        ),
        updated_at: Some(
            Timestamp {
                seconds: 1769853600,
                nanos: 0,
            },
        ),
        user: None,
    }
    "#);
    assert_eq!(app.admin().get(&order.id).await.unwrap(), order);
    assert_eq!(app.events(&order.id).await, ["OrderPlaced"]);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn later_edits_of_the_catalogue_do_not_change_an_order(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let order = app.unpaid_order("10.00").await;
    app.peers.state().products.clear();
    let paid = app.admin().pay(&order.id, None).await.unwrap();
    assert_eq!(paid.amount, "10.00000000");
    assert_eq!(paid.paid_amount, "10.00000000");
    assert_eq!(paid.lines[0].product, order.lines[0].product);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_line_keeps_the_category_with_its_times(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let time = |seconds| Some(Timestamp { seconds, nanos: 0 });
    let category = CategorySnapshot {
        id: "lamps".into(),
        title: "Lamps".into(),
        custom_data: "{}".into(),
        created_at: time(1_600_000_000),
        updated_at: time(1_600_000_001),
        ..CategorySnapshot::default()
    };
    let mut lamp = quote("1.00", "0", "0");
    lamp.product.as_mut().unwrap().category = Some(category);
    let lamp = app.add_quote(lamp);
    let order = app.admin().create(app.cart(&[(&lamp, 1)])).await.unwrap();
    let line = &order.lines[0].id;
    let stored = app.admin().get_line(&order.id, line).await.unwrap();
    let product = stored.product.unwrap();
    let category = product.category.as_ref().unwrap();
    assert_eq!(category.created_at, time(1_600_000_000));
    assert_eq!(category.updated_at, time(1_600_000_001));
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_line_without_a_quantity_is_one_unit(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let mut cart = app.cart(&[]);
    cart.lines.push(NewOrderLine {
        product_id: app.add_product("1.00", "0", "0"),
        quantity: None,
        product_questions_result: None,
    });
    let order = app.admin().create(cart).await.unwrap();
    assert_eq!(order.lines[0].quantity, 1);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn an_order_of_amount_zero_is_fully_paid(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let product = app.add_product("0", "0", "1.00");
    let cart = app.cart(&[(&product, 1)]);
    let order = app.admin().create(cart).await.unwrap();
    assert_eq!(order.payment_status(), PaymentStatus::FullyPaid);
    assert!(order.paid_at.is_some());
    assert_eq!(app.events(&order.id).await, ["OrderPlaced", "OrderPaid"]);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_shipping_amount_is_rounded_to_its_asset(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let mut in_euro = quote("1.00", "0", "0");
    in_euro.asset_code = "eur".into();
    let product = app.add_quote(in_euro);
    let mut cart = app.cart(&[(&product, 1)]);
    cart.set_delivery_method(DeliveryMethod::Shipping);
    cart.shipping_address_id = Some("home".into());
    let order = app.admin().create(cart).await.unwrap();
    assert_eq!(order.shipping_amount, "4.51000000");
    assert_eq!(order.amount, "5.51000000");
}
