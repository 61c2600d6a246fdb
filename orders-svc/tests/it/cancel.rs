//! Cancels orders and refunds them.

use platform::error::Code;
use proto::orders::v1::{CancelOrderRequest, OrderStatus, PaymentStatus};
use sqlx::PgPool;

use crate::{
    assertions::{State, assert_refused},
    fakes::DEFAULT_WALLET,
    harness::TestApp,
};

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_cancellation_refunds_everything_by_default(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.paid_order("50.00").await.id;
    app.advance_clock();
    let request = CancelOrderRequest {
        id: id.clone(),
        reason: Some(r#"["late", "broken"]"#.into()),
        refund_amount: None,
    };
    let canceled = app.admin().cancel_order(request).await.unwrap();
    insta::assert_debug_snapshot!(canceled, @r#"
    Order {
        id: "018bcfe5-6800-710a-adec-89025cc10000",
        user_id: "018bcfe5-6800-7758-b5de-1c9756ce0000",
        asset_code: "usd",
        amount: "50.00000000",
        amount_without_shipment: "50.00000000",
        amount_without_taxes: "50.00000000",
        shipping_amount: "0.00000000",
        taxes_amount: "0.00000000",
        bonus: "3.00000000",
        bonus_asset_code: "usd",
        paid_amount: "0.00000000",
        unpaid_amount: "50.00000000",
        order_status: Canceled,
        payment_status: FullyRefunded,
        delivery_method: Unspecified,
        tracking_id: None,
        reference: "YAN4KXVX",
        paid_at: Some(
            Timestamp {
                seconds: 1769853600,
                nanos: 0,
            },
        ),
        fulfilled_at: None,
        canceled_at: Some(
            Timestamp {
                seconds: 1769853660,
                nanos: 0,
            },
        ),
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
                status: Canceled,
                unit_price: "50.00000000",
                unit_tax: "0.00000000",
                tax_rate: Some(
                    "20.00000000",
                ),
                unit_bonus: "3.00000000",
                asset_code: "usd",
                bonus_asset_code: "usd",
                fulfilled_at: None,
                metadata: "{\"amount\":\"50.00000000\",\"amountWithoutTaxes\":\"50.00000000\",\"taxesAmount\":\"0.00000000\",\"bonus\":\"3.00000000\",\"refundedQuantity\":0}",
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
        metadata: "{\"deliveryMethod\":null,\"shippingAmount\":\"0.00000000\",\"taxesAmount\":\"0.00000000\",\"taxes\":[{\"rate\":\"20.00000000\",\"taxableAmount\":\"50.00000000\",\"taxAmount\":\"0.00000000\"}],\"cancelReason\":[\"late\", \"broken\"]}",
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
    assert_eq!(app.admin().get(&id).await.unwrap(), canceled);
    assert_eq!(app.balance("usd"), "100.00000000");
    assert_eq!(app.peers.balance(DEFAULT_WALLET, "usd"), "0.00000000");
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_refund_is_posted_from_the_default_wallet(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.paid_order("50.00").await.id;
    app.admin().cancel(&id, Some("20")).await.unwrap();
    let refund = app.peers.state().postings[1].clone();
    insta::assert_debug_snapshot!(refund, @r#"
    Posting {
        asset_code: "usd",
        amount: "20.00000000",
        origin_wallet_id: "01920000-0000-7000-8000-00000000d0d0",
        destination_wallet_id: "018bcfe5-6801-7fc8-8610-0bfc1e420000",
        code: "refund",
        description: None,
        metadata: "{\"orderId\":\"018bcfe5-6800-710a-adec-89025cc10000\"}",
        returns_money: true,
    }
    "#);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_canceled_order_cannot_be_paid_or_canceled(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.paid_order("50.00").await.id;
    app.admin().cancel(&id, None).await.unwrap();
    for refund in [None, Some("0")] {
        let again = app.admin().cancel(&id, refund).await;
        assert_refused(again, Code::InvalidState, &[]);
    }
    let paid = app.admin().pay(&id, None).await;
    assert_refused(paid, Code::InvalidState, &[]);
    assert_eq!(app.peers.state().postings.len(), 2);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_partial_refund_takes_from_the_newest_payment(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.unpaid_order("10.00").await.id;
    let second_wallet = app.add_wallet(&app.user.id);
    app.peers.set_balance(&second_wallet, "usd", "9.00");
    app.admin().pay(&id, Some("1.00")).await.unwrap();
    app.admin().pay_from(&id, &second_wallet).await.unwrap();

    let canceled = app.admin().cancel(&id, Some("9.33")).await.unwrap();
    let expected = State {
        order: OrderStatus::Canceled,
        payment: PaymentStatus::PartiallyRefunded,
        paid_amount: "0.67000000",
    };
    assert_eq!(State::of(&canceled), expected);
    assert_eq!(canceled.unpaid_amount, "9.33000000");
    assert_eq!(app.peers.balance(&second_wallet, "usd"), "9.00000000");
    assert_eq!(app.balance("usd"), "99.33000000");
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn an_unpaid_order_is_canceled_without_a_posting(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.unpaid_order("10.00").await.id;
    let canceled = app.admin().cancel(&id, None).await.unwrap();
    let expected = State {
        order: OrderStatus::Canceled,
        payment: PaymentStatus::Unpaid,
        paid_amount: "0.00000000",
    };
    assert_eq!(State::of(&canceled), expected);
    assert_eq!(app.events(&id).await, ["OrderPlaced", "OrderCanceled"]);
    assert!(app.peers.state().postings.is_empty());
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_refund_of_zero_keeps_the_payment(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.paid_order("10.00").await.id;
    let canceled = app.admin().cancel(&id, Some("0")).await.unwrap();
    let expected = State {
        order: OrderStatus::Canceled,
        payment: PaymentStatus::FullyPaid,
        paid_amount: "10.00000000",
    };
    assert_eq!(State::of(&canceled), expected);
    assert_eq!(app.peers.state().postings.len(), 1);
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn an_uncovered_refund_leaves_the_order_unchanged(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let order = app.paid_order("10.00").await;
    app.peers.set_balance(DEFAULT_WALLET, "usd", "9.99");
    let refused = app.admin().cancel(&order.id, None).await;
    assert_refused(refused, Code::InsufficientFunds, &["refundAmount"]);
    assert_eq!(app.admin().get(&order.id).await.unwrap(), order);

    app.peers.set_balance(DEFAULT_WALLET, "usd", "10.00");
    app.admin().cancel(&order.id, None).await.unwrap();
    assert_eq!(app.balance("usd"), "100.00000000");
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn concurrent_cancellations_refund_once(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.paid_order("60.00").await.id;
    let admin = app.admin();
    let results = futures::future::join_all((0..8).map(|_| admin.cancel(&id, None))).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    assert_eq!(app.balance("usd"), "100.00000000");
    assert_eq!(app.peers.state().postings.len(), 2);
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn concurrent_payment_and_cancellation_agree_with_the_money(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.unpaid_order("60.00").await.id;
    let admin = app.admin();
    let (paid, canceled) = tokio::join!(admin.pay(&id, None), admin.cancel(&id, None));
    let order = app.admin().get(&id).await.unwrap();
    match order.order_status() {
        // Canceled first, or after the payment was settled and then refunded.
        OrderStatus::Canceled => assert!(canceled.is_ok()),
        _ => assert!(paid.is_ok() && canceled.is_err()),
    }
    let money_left = app.balance("usd");
    let expected = match order.payment_status() {
        PaymentStatus::FullyPaid => "40.00000000",
        _ => "100.00000000",
    };
    assert_eq!(money_left, expected);
    app.assert_settled().await;
}
