//! Actions in states that do not allow them.

use platform::error::Code;
use proto::orders::v1::Order;
use sqlx::PgPool;

use crate::{assertions::assert_refused, harness::TestApp};

/// An order of two units of one product, of which as many are fulfilled.
async fn order_with_fulfilled_units(app: &TestApp, units: u32) -> Order {
    let product = app.add_product("5.00", "0", "0");
    let cart = app.cart(&[(&product, 2)]);
    let order = app.admin().create(cart).await.unwrap();
    let (id, line) = (&order.id, &order.lines[0].id);
    let admin = app.admin();
    admin.fulfil_line(id, line, Some(units)).await.unwrap()
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_canceled_order_accepts_no_action_but_a_tracking_id(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.paid_order("10.00").await.id;
    let admin = app.admin();
    let canceled = admin.cancel(&id, None).await.unwrap();
    let line = &canceled.lines[0].id;
    let invalid = Code::InvalidState;
    assert_refused(admin.pay(&id, None).await, invalid, &[]);
    assert_refused(admin.cancel(&id, None).await, invalid, &[]);
    assert_refused(admin.fulfil(&id, None).await, invalid, &[]);
    assert_refused(admin.unfulfil(&id).await, invalid, &[]);
    let fulfilled = admin.fulfil_line(&id, line, None).await;
    assert_refused(fulfilled, invalid, &[]);
    let unfulfilled = admin.unfulfil_line(&id, line, None).await;
    assert_refused(unfulfilled, invalid, &[]);
    assert_eq!(admin.get(&id).await.unwrap(), canceled);

    let tracking_id = app.new_id();
    let tracked = admin.track(&id, Some(&tracking_id)).await.unwrap();
    assert_eq!(tracked.tracking_id, Some(tracking_id));
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_fully_paid_order_accepts_no_payment(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let order = app.paid_order("10.00").await;
    for amount in [None, Some("1"), Some("0")] {
        let refused = app.admin().pay(&order.id, amount).await;
        assert_refused(refused, Code::InvalidState, &[]);
    }
    assert_eq!(app.admin().get(&order.id).await.unwrap(), order);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn an_order_of_amount_zero_accepts_no_payment(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let order = app.unpaid_order("0").await;
    let refused = app.admin().pay(&order.id, None).await;
    assert_refused(refused, Code::InvalidState, &[]);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn an_order_with_fulfilled_units_cannot_be_canceled(pool: PgPool) {
    let app = TestApp::start(pool).await;
    for units in [1, 2] {
        let order = order_with_fulfilled_units(&app, units).await;
        let refused = app.admin().cancel(&order.id, None).await;
        assert_refused(refused, Code::InvalidState, &[]);
        assert_eq!(app.admin().get(&order.id).await.unwrap(), order);

        app.admin().unfulfil(&order.id).await.unwrap();
        app.admin().cancel(&order.id, None).await.unwrap();
    }
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_fulfilled_order_can_be_paid(pool: PgPool) {
    let app = TestApp::start(pool).await;
    for units in [1, 2] {
        let order = order_with_fulfilled_units(&app, units).await;
        let paid = app.admin().pay(&order.id, None).await.unwrap();
        assert_eq!(paid.order_status, order.order_status);
        assert_eq!(paid.unpaid_amount, "0.00000000");
    }
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn unfulfilling_an_unfulfilled_order_changes_nothing(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let order = app.unpaid_order("10.00").await;
    let admin = app.admin();
    assert_eq!(admin.unfulfil(&order.id).await.unwrap(), order);
    let line = admin.unfulfil_line(&order.id, &order.lines[0].id, None);
    assert_eq!(line.await.unwrap(), order);
    assert_eq!(app.events(&order.id).await, ["OrderPlaced"]);
}
