//! Fulfils orders and lines, takes that back, and tracks parcels.

use platform::error::Code;
use proto::orders::v1::{OrderLineStatus, OrderStatus};
use sqlx::PgPool;

use crate::{assertions::assert_refused, harness::TestApp};

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_fulfilled_order_is_returned_whole(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.unpaid_order("1.00").await.id;
    // The catalogue is not needed.
    app.peers.state().products.clear();
    app.advance_clock();
    let tracking_id = app.new_id();
    let fulfilled = app.admin().fulfil(&id, Some(&tracking_id)).await.unwrap();
    insta::assert_debug_snapshot!(fulfilled, @r#"
    Order {
        id: "018bcfe5-6800-710a-adec-89025cc10000",
        user_id: "018bcfe5-6800-7758-b5de-1c9756ce0000",
        asset_code: "usd",
        amount: "1.00000000",
        amount_without_shipment: "1.00000000",
        amount_without_taxes: "1.00000000",
        shipping_amount: "0.00000000",
        taxes_amount: "0.00000000",
        bonus: "3.00000000",
        bonus_asset_code: "usd",
        paid_amount: "0.00000000",
        unpaid_amount: "1.00000000",
        order_status: Fulfilled,
        payment_status: Unpaid,
        delivery_method: Unspecified,
        tracking_id: Some(
            "018bcfe5-6803-73f2-827a-ffe7f6640000",
        ),
        reference: "YAN4KXVX",
        paid_at: None,
        fulfilled_at: Some(
            Timestamp {
                seconds: 1769853660,
                nanos: 0,
            },
        ),
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
                quantity: 1,
                fulfilled_quantity: 1,
                status: Fulfilled,
                unit_price: "1.00000000",
                unit_tax: "0.00000000",
                tax_rate: Some(
                    "20.00000000",
                ),
                unit_bonus: "3.00000000",
                asset_code: "usd",
                bonus_asset_code: "usd",
                fulfilled_at: Some(
                    Timestamp {
                        seconds: 1769853660,
                        nanos: 0,
                    },
                ),
                metadata: "{\"amount\":\"1.00000000\",\"amountWithoutTaxes\":\"1.00000000\",\"taxesAmount\":\"0.00000000\",\"bonus\":\"3.00000000\",\"refundedQuantity\":0}",
                created_at: Some(
                    Timestamp {
                        seconds: 1769853600,
                        nanos: 0,
                    },
                ),
                updated_at: Some(
                    Timestamp {
                        seconds: 1769853660,
                        nanos: 0,
                    },
                ),
            },
        ],
        metadata: "{\"deliveryMethod\":null,\"shippingAmount\":\"0.00000000\",\"taxesAmount\":\"0.00000000\",\"taxes\":[{\"rate\":\"20.00000000\",\"taxableAmount\":\"1.00000000\",\"taxAmount\":\"0.00000000\"}]}",
        custom_data: "{}",
        created_at: Some(
            Timestamp {
                seconds: 1769853600,
                nanos: 0,
            },
        ),
        updated_at: Some(
            Timestamp {
                seconds: 1769853660,
                nanos: 0,
            },
        ),
        user: None,
    }
    "#);
    assert_eq!(app.admin().get(&id).await.unwrap(), fulfilled);
    assert_eq!(app.events(&id).await, ["OrderPlaced", "OrderFulfilled"]);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn fulfilling_again_changes_nothing(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.unpaid_order("1.00").await.id;
    let tracking_id = app.new_id();
    let fulfilled = app.admin().fulfil(&id, Some(&tracking_id)).await.unwrap();
    let again = app.admin().fulfil(&id, None).await.unwrap();
    assert_eq!(again, fulfilled);
    assert_eq!(app.events(&id).await, ["OrderPlaced", "OrderFulfilled"]);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn an_unfulfilled_order_has_no_fulfilled_units(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.unpaid_order("1.00").await.id;
    app.admin().fulfil(&id, None).await.unwrap();
    let undone = app.admin().unfulfil(&id).await.unwrap();
    assert_eq!(undone.order_status(), OrderStatus::Unfulfilled);
    assert_eq!(undone.fulfilled_at, None);
    assert_eq!(undone.lines[0].fulfilled_quantity, 0);
    assert_eq!(undone.lines[0].status(), OrderLineStatus::Unfulfilled);
    assert_eq!(app.admin().get(&id).await.unwrap(), undone);
    let events = app.events(&id).await;
    assert_eq!(
        events,
        ["OrderPlaced", "OrderFulfilled", "OrderUnfulfilled"]
    );
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn the_order_is_fulfilled_with_its_last_line(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let product = app.add_product("1.00", "0", "0");
    let cart = app.cart(&[(&product, 2), (&product, 1)]);
    let admin = app.admin();
    let order = admin.create(cart).await.unwrap();
    let (id, first, second) = (&order.id, &order.lines[0].id, &order.lines[1].id);

    let part = admin.fulfil_line(id, first, Some(1)).await.unwrap();
    assert_eq!(part.lines[0].status(), OrderLineStatus::PartiallyFulfilled);
    assert_eq!(part.lines[0].fulfilled_at, None);
    let line = admin.fulfil_line(id, first, None).await.unwrap();
    assert_eq!(line.lines[0].status(), OrderLineStatus::Fulfilled);
    assert!(line.lines[0].fulfilled_at.is_some());
    assert_eq!(line.order_status(), OrderStatus::Unfulfilled);
    assert_eq!(line.fulfilled_at, None);
    // Without a quantity nothing remains to be fulfilled, which changes nothing.
    assert_eq!(admin.fulfil_line(id, first, None).await.unwrap(), line);
    let over = admin.fulfil_line(id, first, Some(1)).await;
    assert_refused(over, Code::ValidationFailed, &["quantity"]);

    let order = admin.fulfil_line(id, second, Some(1)).await.unwrap();
    assert_eq!(order.order_status(), OrderStatus::Fulfilled);
    assert!(order.fulfilled_at.is_some());
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn unfulfilling_a_line_makes_the_order_unfulfilled(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let product = app.add_product("1.00", "0", "0");
    let cart = app.cart(&[(&product, 2), (&product, 1)]);
    let admin = app.admin();
    let order = admin.create(cart).await.unwrap();
    let (id, second) = (&order.id, &order.lines[1].id);
    admin.fulfil(id, None).await.unwrap();
    let over = admin.unfulfil_line(id, second, Some(2)).await;
    assert_refused(over, Code::ValidationFailed, &["quantity"]);

    let undone = admin.unfulfil_line(id, second, None).await.unwrap();
    assert_eq!(undone.order_status(), OrderStatus::Unfulfilled);
    assert_eq!(undone.fulfilled_at, None);
    assert_eq!(undone.lines[1].fulfilled_quantity, 0);
    let events = app.events(id).await;
    assert_eq!(
        events,
        ["OrderPlaced", "OrderFulfilled", "OrderUnfulfilled"]
    );
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn the_tracking_id_is_written_and_cleared(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let admin = app.admin();
    let id = app.unpaid_order("1.00").await.id;
    let tracking_id = app.new_id();
    let upper_case = tracking_id.to_uppercase();
    let tracked = admin.track(&id, Some(&upper_case)).await.unwrap();
    assert_eq!(tracked.tracking_id.as_ref(), Some(&tracking_id));
    let again = admin.track(&id, Some(&tracking_id)).await.unwrap();
    assert_eq!(again, tracked);
    let cleared = admin.track(&id, None).await.unwrap();
    assert_eq!(cleared.tracking_id, None);
    // A tracking id is no event.
    assert_eq!(app.events(&id).await, ["OrderPlaced"]);
}
