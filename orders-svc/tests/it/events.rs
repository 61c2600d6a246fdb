//! Bodies of the events.

use orders_svc::consumers::bonus_revoked::RecordBonusDebt;
use platform::clock::Clock;
use proto::events::v1::{
    BonusRevoked, OrderCanceled, OrderFulfilled, OrderPaid, OrderPaymentReceived, OrderPlaced,
    OrderRefunded, OrderUnfulfilled,
};
use sqlx::PgPool;

use crate::harness::TestApp;

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn an_order_is_placed(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.unpaid_order("10.00").await.id;
    let event: OrderPlaced = app.event(&id, "OrderPlaced").await;
    insta::assert_debug_snapshot!(event, @r#"
    OrderPlaced {
        order_id: "018bcfe5-6800-710a-adec-89025cc10000",
        version: 1,
        user_id: "018bcfe5-6800-7758-b5de-1c9756ce0000",
        amount: "10.00000000",
        asset_code: "usd",
    }
    "#);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn an_order_is_paid(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.unpaid_order("10.00").await.id;
    app.admin().pay(&id, Some("4")).await.unwrap();
    let event: OrderPaymentReceived = app.event(&id, "OrderPaymentReceived").await;
    insta::assert_debug_snapshot!(event, @r#"
    OrderPaymentReceived {
        order_id: "018bcfe5-6800-710a-adec-89025cc10000",
        version: 2,
        user_id: "018bcfe5-6800-7758-b5de-1c9756ce0000",
        amount: "4.00000000",
        asset_code: "usd",
        paid_amount: "4.00000000",
        unpaid_amount: "6.00000000",
        transaction_ids: [
            "018bcfe5-6800-7d0b-94e4-db018fed0000",
        ],
    }
    "#);
    app.admin().pay(&id, None).await.unwrap();
    let event: OrderPaid = app.event(&id, "OrderPaid").await;
    insta::assert_debug_snapshot!(event, @r#"
    OrderPaid {
        order_id: "018bcfe5-6800-710a-adec-89025cc10000",
        version: 4,
        user_id: "018bcfe5-6800-7758-b5de-1c9756ce0000",
        wallet_id: "018bcfe5-6801-7fc8-8610-0bfc1e420000",
        amount: "10.00000000",
        asset_code: "usd",
        bonus: "3.00000000",
        bonus_asset_code: "usd",
        paid_at: Some(
            Timestamp {
                seconds: 1769853600,
                nanos: 0,
            },
        ),
    }
    "#);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn an_order_is_fulfilled_and_unfulfilled(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.unpaid_order("10.00").await.id;
    app.admin().fulfil(&id, None).await.unwrap();
    let event: OrderFulfilled = app.event(&id, "OrderFulfilled").await;
    insta::assert_debug_snapshot!(event, @r#"
    OrderFulfilled {
        order_id: "018bcfe5-6800-710a-adec-89025cc10000",
        version: 2,
        user_id: "018bcfe5-6800-7758-b5de-1c9756ce0000",
        fulfilled_at: Some(
            Timestamp {
                seconds: 1769853600,
                nanos: 0,
            },
        ),
    }
    "#);
    app.admin().unfulfil(&id).await.unwrap();
    let event: OrderUnfulfilled = app.event(&id, "OrderUnfulfilled").await;
    insta::assert_debug_snapshot!(event, @r#"
    OrderUnfulfilled {
        order_id: "018bcfe5-6800-710a-adec-89025cc10000",
        version: 3,
        user_id: "018bcfe5-6800-7758-b5de-1c9756ce0000",
    }
    "#);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn an_order_is_canceled_and_refunded(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.paid_order("10.00").await.id;
    // 3.00 × 9.33 / 10.00 of the bonus, rounded up.
    app.admin().cancel(&id, Some("9.33")).await.unwrap();
    let event: OrderCanceled = app.event(&id, "OrderCanceled").await;
    insta::assert_debug_snapshot!(event, @r#"
    OrderCanceled {
        order_id: "018bcfe5-6800-710a-adec-89025cc10000",
        version: 4,
        user_id: "018bcfe5-6800-7758-b5de-1c9756ce0000",
        wallet_id: "018bcfe5-6801-7fc8-8610-0bfc1e420000",
        refunded: [
            RefundedAmount {
                amount: "9.33000000",
                asset_code: "usd",
            },
        ],
        bonus_revoked: "2.80000000",
        bonus_asset_code: "usd",
        amount: "10.00000000",
        refunded_amount: "9.33000000",
        asset_code: "usd",
        unearned_amount: "9.33000000",
    }
    "#);
    let event: OrderRefunded = app.event(&id, "OrderRefunded").await;
    insta::assert_debug_snapshot!(event, @r#"
    OrderRefunded {
        order_id: "018bcfe5-6800-710a-adec-89025cc10000",
        version: 5,
        user_id: "018bcfe5-6800-7758-b5de-1c9756ce0000",
        wallet_id: "018bcfe5-6801-7fc8-8610-0bfc1e420000",
        refunded: [
            RefundedAmount {
                amount: "9.33000000",
                asset_code: "usd",
            },
        ],
        bonus_revoked: "2.80000000",
        bonus_asset_code: "usd",
        transaction_ids: [
            "018bcfe5-6801-7346-af8a-7b81a9890000",
        ],
        amount: "10.00000000",
        refunded_amount: "9.33000000",
        asset_code: "usd",
        unearned_amount: "9.33000000",
    }
    "#);
    let events = app.events(&id).await;
    let expected = [
        "OrderPlaced",
        "OrderPaymentReceived",
        "OrderPaid",
        "OrderCanceled",
        "OrderRefunded",
    ];
    assert_eq!(events, expected);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_debt_of_a_revoked_bonus_is_shown_until_it_is_paid(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.paid_order("10.00").await.id;
    let canceled = app.admin().cancel(&id, None).await.unwrap();
    assert!(!canceled.metadata.contains("bonusShortfall"));
    app.advance_clock();

    let mut conn = app.pool.acquire().await.unwrap();
    let mut shown = Vec::new();
    // The second and the third arrive in the wrong order, and the last again.
    for (version, owed) in [(1, "3"), (3, "1.5"), (2, "2"), (4, "0"), (4, "0")] {
        let event = BonusRevoked {
            order_id: id.clone(),
            version,
            revoked: "3.00000000".to_owned(),
            owed: owed.to_owned(),
            ..BonusRevoked::default()
        };
        let record = RecordBonusDebt(Clock::system());
        record.handle(&mut conn, event).await.unwrap();
        let order = app.admin().get(&id).await.unwrap();
        assert_ne!(order.updated_at, canceled.updated_at);
        let metadata: serde_json::Value = serde_json::from_str(&order.metadata).unwrap();
        shown.push(metadata["bonusShortfall"].as_str().map(str::to_owned));
    }
    let shown: Vec<_> = shown.iter().map(Option::as_deref).collect();
    let (three, rest) = (Some("3.00000000"), Some("1.50000000"));
    assert_eq!(shown, [three, rest, rest, None, None]);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn an_event_about_a_bonus_without_a_debt_changes_no_order(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.paid_order("10.00").await.id;
    let canceled = app.admin().cancel(&id, None).await.unwrap();
    let mut conn = app.pool.acquire().await.unwrap();
    for order_id in [id.clone(), app.new_id()] {
        let event = BonusRevoked {
            order_id,
            version: 1,
            revoked: "3.00000000".to_owned(),
            owed: "0.00000000".to_owned(),
            ..BonusRevoked::default()
        };
        let record = RecordBonusDebt(Clock::system());
        record.handle(&mut conn, event).await.unwrap();
    }
    assert_eq!(app.admin().get(&id).await.unwrap(), canceled);
}
