//! Pays orders, in parts and concurrently.

use std::time::Duration;

use platform::error::Code;
use proto::orders::v1::{OrderStatus, PaymentStatus};
use sqlx::PgPool;

use crate::{
    assertions::{State, assert_refused},
    fakes::{DEFAULT_WALLET, LedgerMode},
    harness::TestApp,
};

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_part_makes_an_order_paid_and_the_rest_fully_paid(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.unpaid_order("69.00").await.id;
    let part = app.admin().pay(&id, Some("37")).await.unwrap();
    let expected = State {
        order: OrderStatus::Unfulfilled,
        payment: PaymentStatus::Paid,
        paid_amount: "37.00000000",
    };
    assert_eq!(State::of(&part), expected);
    assert_eq!(part.unpaid_amount, "32.00000000");
    assert_eq!(part.paid_at, None);
    let too_much = app.admin().pay(&id, Some("32.01")).await;
    assert_refused(too_much, Code::PaymentExceedsUnpaid, &["amount"]);

    let full = app.admin().pay(&id, None).await.unwrap();
    let expected = State {
        order: OrderStatus::Unfulfilled,
        payment: PaymentStatus::FullyPaid,
        paid_amount: "69.00000000",
    };
    assert_eq!(State::of(&full), expected);
    assert_eq!(full.unpaid_amount, "0.00000000");
    assert!(full.paid_at.is_some());
    assert_eq!(app.balance("usd"), "31.00000000");
    assert_eq!(app.peers.balance(DEFAULT_WALLET, "usd"), "69.00000000");
    let received = "OrderPaymentReceived";
    let events = app.events(&id).await;
    assert_eq!(events, ["OrderPlaced", received, received, "OrderPaid"]);
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_fully_paid_order_is_returned_whole(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.unpaid_order("60.00").await.id;
    app.advance_clock();
    let order = app.admin().pay(&id, None).await.unwrap();
    insta::assert_debug_snapshot!(order, @r#"
    Order {
        id: "018bcfe5-6800-710a-adec-89025cc10000",
        user_id: "018bcfe5-6800-7758-b5de-1c9756ce0000",
        asset_code: "usd",
        amount: "60.00000000",
        amount_without_shipment: "60.00000000",
        amount_without_taxes: "60.00000000",
        shipping_amount: "0.00000000",
        taxes_amount: "0.00000000",
        bonus: "3.00000000",
        bonus_asset_code: "usd",
        paid_amount: "60.00000000",
        unpaid_amount: "0.00000000",
        order_status: Unfulfilled,
        payment_status: FullyPaid,
        delivery_method: Unspecified,
        tracking_id: None,
        reference: "YAN4KXVX",
        paid_at: Some(
            Timestamp {
                seconds: 1769853660,
                nanos: 0,
            },
        ),
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
                quantity: 1,
                fulfilled_quantity: 0,
                status: Unfulfilled,
                unit_price: "60.00000000",
                unit_tax: "0.00000000",
                tax_rate: Some(
                    "20.00000000",
                ),
                unit_bonus: "3.00000000",
                asset_code: "usd",
                bonus_asset_code: "usd",
                fulfilled_at: None,
                metadata: "{\"amount\":\"60.00000000\",\"amountWithoutTaxes\":\"60.00000000\",\"taxesAmount\":\"0.00000000\",\"bonus\":\"3.00000000\",\"refundedQuantity\":0}",
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
        metadata: "{\"deliveryMethod\":null,\"shippingAmount\":\"0.00000000\",\"taxesAmount\":\"0.00000000\",\"taxes\":[{\"rate\":\"20.00000000\",\"taxableAmount\":\"60.00000000\",\"taxAmount\":\"0.00000000\"}]}",
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
    assert_eq!(app.admin().get(&order.id).await.unwrap(), order);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_payment_is_posted_to_the_default_wallet(pool: PgPool) {
    let app = TestApp::start(pool).await;
    app.paid_order("60.00").await;
    let postings = app.peers.state().postings.clone();
    insta::assert_debug_snapshot!(postings, @r#"
    [
        Posting {
            asset_code: "usd",
            amount: "60.00000000",
            origin_wallet_id: "018bcfe5-6801-7fc8-8610-0bfc1e420000",
            destination_wallet_id: "01920000-0000-7000-8000-00000000d0d0",
            code: "pay",
            description: None,
            metadata: "{\"orderId\":\"018bcfe5-6800-710a-adec-89025cc10000\"}",
            returns_money: false,
        },
    ]
    "#);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn concurrent_payments_take_the_money_once(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.unpaid_order("60.00").await.id;
    let admin = app.admin();
    let results = futures::future::join_all((0..12).map(|_| admin.pay(&id, None))).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    for failure in results.into_iter().filter_map(Result::err) {
        let refused = [Code::OrderBusy, Code::InvalidState];
        assert!(refused.contains(&failure.code), "{failure}");
    }
    assert_eq!(app.balance("usd"), "40.00000000");
    let order = app.admin().get(&id).await.unwrap();
    assert_eq!(order.payment_status(), PaymentStatus::FullyPaid);
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn an_order_is_busy_while_a_payment_is_in_progress(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let order = app.unpaid_order("60.00").await;
    let (id, line) = (&order.id, &order.lines[0].id);
    app.peers.set_ledger(LedgerMode::Waits);
    let admin = app.admin();
    let meanwhile = async {
        app.peers.post_called.notified().await;
        let busy = Code::OrderBusy;
        let failure = assert_refused(admin.pay(id, None).await, busy, &[]);
        assert!(failure.retry_after.is_some());
        assert_refused(admin.cancel(id, None).await, busy, &[]);
        assert_refused(admin.fulfil(id, None).await, busy, &[]);
        assert_refused(admin.unfulfil(id).await, busy, &[]);
        assert_refused(admin.fulfil_line(id, line, None).await, busy, &[]);
        assert_refused(admin.unfulfil_line(id, line, None).await, busy, &[]);
        assert_eq!(admin.get(id).await.unwrap(), order);
        app.peers.post_may_continue.notify_one();
    };
    let (paid, ()) = tokio::join!(admin.pay(id, None), meanwhile);
    assert_eq!(paid.unwrap().payment_status(), PaymentStatus::FullyPaid);
    assert_eq!(app.balance("usd"), "40.00000000");
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn payments_never_exceed_the_amount(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.unpaid_order("100.00").await.id;
    app.admin().pay(&id, Some("40")).await.unwrap();
    app.admin().pay(&id, Some("40")).await.unwrap();
    let third = app.admin().pay(&id, Some("40")).await;
    assert_refused(third, Code::PaymentExceedsUnpaid, &["amount"]);
    assert_eq!(app.balance("usd"), "20.00000000");
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn an_order_takes_a_hundred_payments_and_refunds_all(pool: PgPool) {
    let app = TestApp::start(pool).await;
    app.peers.set_balance(DEFAULT_WALLET, "usd", "10.00");
    let id = app.unpaid_order("10.00").await.id;
    app.admin().pay(&id, Some("0.01")).await.unwrap();
    sqlx::raw_sql(
        "insert into orders.payments (
             transaction_id, order_id, claim, leg, wallet_id, asset_code, amount,
             is_bonus, refunded_amount, refunded_value, created_at)
         select gen_random_uuid(), order_id, claim, n, wallet_id, asset_code, amount, false, 0, 0,
                created_at
         from orders.payments, generate_series(1, 98) as n;
         update orders.orders set paid_amount = 0.99;",
    )
    .execute(&app.pool)
    .await
    .unwrap();
    app.admin().pay(&id, Some("0.01")).await.unwrap();
    let one_too_many = app.admin().pay(&id, None).await;
    assert_refused(one_too_many, Code::InvalidState, &[]);

    let canceled = app.admin().cancel(&id, None).await.unwrap();
    assert_eq!(canceled.payment_status(), PaymentStatus::FullyRefunded);
    let postings = app.peers.state().postings.clone();
    let refunds = postings.iter().filter(|posting| posting.code == "refund");
    assert_eq!(refunds.count(), 100);
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_request_without_time_for_the_ledger_claims_nothing(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.unpaid_order("10.00").await.id;
    let product = app.add_product("10.00", "0", "0");
    let mut cart = app.cart(&[(&product, 1)]);
    cart.wallet_id = Some(app.user.primary_wallet_id.clone());
    let hurried = app.admin().with_timeout(Duration::from_millis(500));
    assert_refused(hurried.pay(&id, None).await, Code::Timeout, &[]);
    assert_refused(hurried.create(cart).await, Code::Timeout, &[]);
    app.admin().pay(&id, None).await.unwrap();
    assert_eq!(app.balance("usd"), "90.00000000");
    assert_eq!(app.count("orders").await, 1);
    app.assert_settled().await;
}
