//! Refunds an order in parts: amounts and units, before and after other actions.

use platform::error::Code;
use proto::{
    events::v1::OrderRefunded,
    orders::v1::{Order, OrderStatus, PaymentStatus, RefundOrderRequest},
};
use sqlx::PgPool;

use crate::{
    assertions::{State, assert_refused},
    fakes::DEFAULT_WALLET,
    harness::TestApp,
};

/// A paid order of 3 units at 10.00 and tax 2.00, and one unit at 4.00 without, with a bonus of 3.00 a unit of
/// the first.
async fn paid_order_of_two_lines(app: &TestApp) -> Order {
    let taxed = app.add_product("10.00", "2.00", "3.00");
    let untaxed = app.add_product("4.00", "0", "0");
    let cart = app.cart(&[(&taxed, 3), (&untaxed, 1)]);
    let order = app.admin().create(cart).await.unwrap();
    app.admin().pay(&order.id, None).await.unwrap()
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn amounts_are_refunded_up_to_what_was_paid(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.paid_order("10.00").await.id;
    let admin = app.admin();
    let refunded = admin.refund(&id, "4").await.unwrap();
    let expected = State {
        order: OrderStatus::Unfulfilled,
        payment: PaymentStatus::PartiallyRefunded,
        paid_amount: "6.00000000",
    };
    assert_eq!(State::of(&refunded), expected);
    assert_eq!(refunded.unpaid_amount, "4.00000000");
    assert_eq!(app.balance("usd"), "94.00000000");

    let more = admin.refund(&id, "6.01").await;
    assert_refused(more, Code::RefundExceedsPaid, &["amount"]);
    let rest = admin.refund(&id, "6").await.unwrap();
    let expected = State {
        payment: PaymentStatus::FullyRefunded,
        paid_amount: "0.00000000",
        ..expected
    };
    assert_eq!(State::of(&rest), expected);
    assert_eq!(app.balance("usd"), "100.00000000");
    assert_eq!(app.peers.balance(DEFAULT_WALLET, "usd"), "0.00000000");
    let nothing = admin.refund(&id, "0.01").await;
    assert_refused(nothing, Code::RefundExceedsPaid, &["amount"]);
    assert_eq!(app.count("refunds").await, 2);
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn thirds_lose_no_cent(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.paid_order("10.00").await.id;
    for _ in 0..2 {
        app.admin().refund(&id, "3.33").await.unwrap();
    }
    let more = app.admin().refund(&id, "3.35").await;
    assert_refused(more, Code::RefundExceedsPaid, &["amount"]);
    app.admin().refund(&id, "3.34").await.unwrap();
    assert_eq!(app.balance("usd"), "100.00000000");
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn units_are_refunded_with_their_tax(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let order = paid_order_of_two_lines(&app).await;
    let (id, line, other) = (&order.id, &order.lines[0].id, &order.lines[1].id);
    let admin = app.admin();
    let refunded = admin
        .refund_lines(id, &[(line, 2), (other, 1)])
        .await
        .unwrap();
    assert_eq!(refunded.paid_amount, "12.00000000");
    let more = admin.refund_lines(id, &[(line, 2)]).await;
    assert_refused(more, Code::ValidationFailed, &["lines[0].quantity"]);
    let again = admin.refund_lines(id, &[(line, 1), (other, 1)]).await;
    assert_refused(again, Code::ValidationFailed, &["lines[1].quantity"]);
    let rest = admin.refund_lines(id, &[(line, 1)]).await.unwrap();
    assert_eq!(rest.payment_status(), PaymentStatus::FullyRefunded);
    assert_eq!(app.balance("usd"), "100.00000000");
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn an_event_says_what_a_refund_gives_and_takes_back(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let order = paid_order_of_two_lines(&app).await;
    app.admin().refund(&order.id, "1.00").await.unwrap();
    app.admin().refund(&order.id, "9.00").await.unwrap();
    let mut event: OrderRefunded = app.event(&order.id, "OrderRefunded").await;
    assert_eq!(event.transaction_ids.len(), 1);
    event.transaction_ids.clear();
    let expected = OrderRefunded {
        order_id: order.id.clone(),
        version: 5,
        user_id: app.user.id.clone(),
        wallet_id: app.user.primary_wallet_id.clone(),
        refunded: vec![proto::events::v1::RefundedAmount {
            amount: "9.00000000".into(),
            asset_code: "usd".into(),
        }],
        // 9.00 x 10.00 / 40.00 of the bonus.
        bonus_revoked: "2.25000000".into(),
        bonus_asset_code: "usd".into(),
        transaction_ids: Vec::new(),
        amount: "40.00000000".into(),
        refunded_amount: "9.00000000".into(),
        asset_code: "usd".into(),
        unearned_amount: "10.00000000".into(),
    };
    assert_eq!(event, expected);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn refunds_do_not_depend_on_fulfilment(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let order = paid_order_of_two_lines(&app).await;
    let (id, line) = (&order.id, &order.lines[0].id);
    let admin = app.admin();
    admin.fulfil(id, None).await.unwrap();
    let refunded = admin.refund_lines(id, &[(line, 3)]).await.unwrap();
    let expected = State {
        order: OrderStatus::Fulfilled,
        payment: PaymentStatus::PartiallyRefunded,
        paid_amount: "4.00000000",
    };
    assert_eq!(State::of(&refunded), expected);
    let unfulfilled = admin.unfulfil(id).await.unwrap();
    let expected = State {
        order: OrderStatus::Unfulfilled,
        ..expected
    };
    assert_eq!(State::of(&unfulfilled), expected);
    admin.fulfil_line(id, line, Some(1)).await.unwrap();
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn an_order_that_is_paid_again_earns_nothing_again(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let paid = app.paid_order("10.00").await;
    app.admin().refund(&paid.id, "4").await.unwrap();
    app.advance_clock();
    let again = app.admin().pay(&paid.id, None).await.unwrap();
    assert_eq!(again.payment_status(), PaymentStatus::FullyPaid);
    assert_eq!(again.paid_at, paid.paid_at);
    app.admin().refund(&paid.id, "1").await.unwrap();
    let events = app.events(&paid.id).await;
    let expected = [
        "OrderPlaced",
        "OrderPaymentReceived",
        "OrderPaid",
        "OrderRefunded",
        "OrderPaymentReceived",
        "OrderRefunded",
    ];
    assert_eq!(events, expected);
    // The bonus of 3.00 is as if 4.00 were still refunded.
    let event: OrderRefunded = app.event(&paid.id, "OrderRefunded").await;
    assert_eq!(event.bonus_revoked, "1.20000000");
    assert_eq!(event.unearned_amount, "1.00000000");
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_refund_before_the_order_is_fully_paid_takes_no_bonus(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.unpaid_order("10.00").await.id;
    app.admin().pay(&id, Some("4")).await.unwrap();
    let refunded = app.admin().refund(&id, "4").await.unwrap();
    assert_eq!(refunded.payment_status(), PaymentStatus::FullyRefunded);
    let event: OrderRefunded = app.event(&id, "OrderRefunded").await;
    assert_eq!(event.bonus_revoked, "0.00000000");
    assert_eq!(event.unearned_amount, "0.00000000");
    app.admin().pay(&id, None).await.unwrap();
    assert!(app.events(&id).await.contains(&"OrderPaid".to_owned()));
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_cancellation_refunds_what_is_left(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.paid_order("10.00").await.id;
    app.admin().refund(&id, "4").await.unwrap();
    let canceled = app.admin().cancel(&id, None).await.unwrap();
    let expected = State {
        order: OrderStatus::Canceled,
        payment: PaymentStatus::FullyRefunded,
        paid_amount: "0.00000000",
    };
    assert_eq!(State::of(&canceled), expected);
    assert_eq!(app.balance("usd"), "100.00000000");
    let event: OrderRefunded = app.event(&id, "OrderRefunded").await;
    assert_eq!(event.refunded_amount, "6.00000000");
    assert_eq!(event.bonus_revoked, "3.00000000");
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_canceled_order_that_holds_money_is_refunded(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let order = paid_order_of_two_lines(&app).await;
    let (id, line) = (&order.id, &order.lines[0].id);
    app.admin().cancel(id, Some("28")).await.unwrap();
    let refunded = app.admin().refund_lines(id, &[(line, 1)]).await.unwrap();
    let expected = State {
        order: OrderStatus::Canceled,
        payment: PaymentStatus::FullyRefunded,
        paid_amount: "0.00000000",
    };
    assert_eq!(State::of(&refunded), expected);
    let paid = app.admin().pay(id, None).await;
    assert_refused(paid, Code::InvalidState, &[]);
    let more = app.admin().refund_lines(id, &[(line, 1)]).await;
    assert_refused(more, Code::RefundExceedsPaid, &["lines"]);
    assert_eq!(app.balance("usd"), "100.00000000");
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn the_newest_payment_is_refunded_first_to_its_wallet(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.unpaid_order("10.00").await.id;
    let second_wallet = app.add_wallet(&app.user.id);
    app.peers.set_balance(&second_wallet, "usd", "9.00");
    app.admin().pay(&id, Some("1.00")).await.unwrap();
    app.admin().pay_from(&id, &second_wallet).await.unwrap();
    app.admin().refund(&id, "5.00").await.unwrap();
    assert_eq!(app.peers.balance(&second_wallet, "usd"), "5.00000000");
    app.admin().refund(&id, "4.50").await.unwrap();
    assert_eq!(app.peers.balance(&second_wallet, "usd"), "9.00000000");
    assert_eq!(app.balance("usd"), "99.50000000");
    app.admin().refund(&id, "0.50").await.unwrap();
    assert_eq!(app.balance("usd"), "100.00000000");
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn refunds_of_points_return_all_points_in_the_end(pool: PgPool) {
    let app = TestApp::start(pool).await;
    {
        let mut state = app.peers.state();
        state.bonus_asset_code = Some("points".into());
        let pair = ("usd".to_owned(), "points".to_owned());
        state.rates.insert(pair, "33".to_owned());
    }
    let wallet = &app.user.primary_wallet_id;
    app.peers.set_balance(wallet, "points", "100");
    let product = app.add_product("3.03", "0", "0");
    let mut cart = app.cart(&[(&product, 1)]);
    cart.use_bonus = true;
    let id = app.admin().create(cart).await.unwrap().id;
    for (refund, points) in [("1.03", "33.00000000"), ("1.00", "66.00000000")] {
        app.admin().refund(&id, refund).await.unwrap();
        assert_eq!(app.balance("points"), points);
    }
    let dust = app.admin().refund(&id, "0.02").await;
    assert_refused(dust, Code::ValidationFailed, &["amount"]);
    app.admin().refund(&id, "1.00").await.unwrap();
    assert_eq!(app.balance("points"), "100.00000000");
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn an_uncovered_refund_leaves_the_order_unchanged(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let order = app.paid_order("10.00").await;
    app.peers.set_balance(DEFAULT_WALLET, "usd", "3.99");
    let by_amount = app.admin().refund(&order.id, "4").await;
    assert_refused(by_amount, Code::InsufficientFunds, &["amount"]);
    let lines = [(order.lines[0].id.as_str(), 1)];
    let by_lines = app.admin().refund_lines(&order.id, &lines).await;
    assert_refused(by_lines, Code::InsufficientFunds, &["lines"]);
    assert_eq!(app.admin().get(&order.id).await.unwrap(), order);
    assert_eq!(app.count("refunds").await, 0);
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_refund_is_recorded_with_its_reason_and_lines(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let order = app.paid_order("10.00").await;
    let request = RefundOrderRequest {
        id: order.id.clone(),
        amount: Some("4".into()),
        reason: Some(r#"["late", "broken"]"#.into()),
        lines: Vec::new(),
    };
    app.admin().refund_order(request).await.unwrap();
    let rows: Vec<(String, String, Option<String>, String)> =
        sqlx::query_as("select amount::text, actor, lines::text, reason from orders.refunds")
            .fetch_all(&app.pool)
            .await
            .unwrap();
    let [(amount, actor, lines, reason)] = &rows[..] else {
        panic!("{rows:?}");
    };
    assert_eq!(
        (amount.as_str(), actor.as_str()),
        ("4.00000000", "key:admin")
    );
    assert_eq!(*lines, None);
    assert_eq!(reason, r#"["late", "broken"]"#);
}
