//! Canceling: refunds by payment, the bonus in proportion, once.

use proto::{
    events::v1::{OrderCanceled, OrderRefunded},
    orders::v1::{
        CancelOrderRequest, FulfillOrderLineRequest, OrderLineStatus, OrderStatus, PayOrderRequest,
        PaymentStatus,
    },
};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::{
    bed::{Bed, new_id, order, refused, state},
    fakes::TILL,
};

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn canceling_gives_everything_back(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    let id = bed.place("50.00").await.id;
    bed.pay(&id, None).await.unwrap();
    let request = CancelOrderRequest {
        id: id.clone(),
        reason: Some(r#"["late", "broken"]"#.into()),
        refund_amount: None,
    };
    let answer = bed.orders().cancel_order(bed.admin(request)).await;
    let canceled = order(answer, |answer| answer.order).unwrap();
    assert_eq!(
        state(&canceled),
        (
            OrderStatus::Canceled,
            PaymentStatus::FullyRefunded,
            "0.00000000"
        )
    );
    assert!(canceled.canceled_at.is_some() && canceled.paid_at.is_some());
    assert!(
        canceled
            .metadata
            .contains(r#""cancelReason":["late", "broken"]"#)
    );
    assert_eq!(
        bed.get(&id).await.lines[0].status(),
        OrderLineStatus::Canceled
    );
    assert_eq!(bed.money(), "100.00000000");
    assert_eq!(bed.world.balance(TILL, "usd"), "0.00000000");
    let refund = bed.world.state().posted[1].clone();
    assert_eq!((&*refund.code, refund.returns_money), ("refund", true));

    let told: OrderCanceled = bed.event(&id, "OrderCanceled").await;
    assert_eq!(
        (&*told.bonus_revoked, &*told.refunded[0].amount),
        ("3.00000000", "50.00000000")
    );
    let told: OrderRefunded = bed.event(&id, "OrderRefunded").await;
    assert_eq!(
        (&*told.bonus_revoked, told.transaction_ids.len()),
        ("3.00000000", 1)
    );

    for again in [None, Some("0")] {
        assert_eq!(refused(bed.cancel(&id, again).await).0, "invalid_state");
    }
    assert_eq!(refused(bed.pay(&id, None).await).0, "invalid_state");
    assert_eq!(bed.world.state().posted.len(), 2);
    bed.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_partial_refund_takes_from_the_newest_payment(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let bed = Bed::new(options).await;
    let id = bed.place("10.00").await.id;
    let purse = new_id();
    bed.add_wallet(&purse, &bed.user.id);
    bed.world.fund(&purse, "usd", "9.00");
    bed.pay(&id, Some("1.00")).await.unwrap();
    let request = PayOrderRequest {
        id: id.clone(),
        amount: None,
        wallet_id: Some(purse.clone()),
    };
    bed.orders().pay_order(bed.admin(request)).await.unwrap();

    for (refund, code) in [
        ("10.01", "refund_exceeds_paid"),
        ("0.001", "amount_precision"),
        ("-1", "validation_failed"),
    ] {
        let answer = refused(bed.cancel(&id, Some(refund)).await);
        assert_eq!(answer, (code.into(), vec!["refundAmount".into()]));
    }
    let canceled = bed.cancel(&id, Some("9.33")).await.unwrap();
    assert_eq!(
        state(&canceled),
        (
            OrderStatus::Canceled,
            PaymentStatus::PartiallyRefunded,
            "0.67000000"
        )
    );
    assert_eq!(&*canceled.unpaid_amount, "9.33000000");
    assert_eq!(bed.world.balance(&purse, "usd"), "9.00000000");
    assert_eq!(bed.money(), "99.33000000");
    // 3.00 × 9.33 / 10.00, rounded up.
    let told: OrderCanceled = bed.event(&id, "OrderCanceled").await;
    assert_eq!(&*told.bonus_revoked, "2.80000000");
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn nothing_to_give_back_moves_nothing(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    let unpaid = bed.place("10.00").await.id;
    let canceled = bed.cancel(&unpaid, None).await.unwrap();
    assert_eq!(
        state(&canceled),
        (OrderStatus::Canceled, PaymentStatus::Unpaid, "0.00000000")
    );
    assert_eq!(bed.events(&unpaid).await, ["OrderPlaced", "OrderCanceled"]);

    let paid = bed.place("10.00").await.id;
    bed.pay(&paid, None).await.unwrap();
    let kept = bed.cancel(&paid, Some("0")).await.unwrap();
    assert_eq!(
        state(&kept),
        (
            OrderStatus::Canceled,
            PaymentStatus::FullyPaid,
            "10.00000000"
        )
    );
    assert_eq!(bed.world.state().posted.len(), 1);
    bed.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_refund_that_is_not_there_leaves_the_order(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    let id = bed.place("10.00").await.id;
    let paid = bed.pay(&id, None).await.unwrap();
    bed.world.fund(TILL, "usd", "9.99");
    let answer = refused(bed.cancel(&id, None).await);
    assert_eq!(
        answer,
        ("insufficient_funds".into(), vec!["refundAmount".into()])
    );
    assert_eq!(bed.get(&id).await, paid);
    bed.world.fund(TILL, "usd", "10.00");
    bed.cancel(&id, None).await.unwrap();
    assert_eq!(bed.money(), "100.00000000");
    bed.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn fulfilled_units_forbid_it(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    let placed = bed.place("10.00").await;
    let request = FulfillOrderLineRequest {
        order_id: placed.id.clone(),
        id: placed.lines[0].id.clone(),
        quantity: Some(1),
    };
    let request = bed.admin(request);
    bed.fulfilment().fulfill_order_line(request).await.unwrap();
    assert_eq!(
        refused(bed.cancel(&placed.id, None).await).0,
        "invalid_state"
    );
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn parallel_cancels_refund_once(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    let id = bed.place("60.00").await.id;
    bed.pay(&id, None).await.unwrap();
    let answers = futures::future::join_all((0..8).map(|_| bed.cancel(&id, None))).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    assert_eq!(bed.money(), "100.00000000");
    assert_eq!(bed.world.state().posted.len(), 2);
    bed.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_reason_is_a_string_or_an_array(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    let id = bed.place("10.00").await.id;
    for reason in [
        "{}",
        "1",
        "null",
        "nonsense",
        &format!("\"{}\"", "x".repeat(2048)),
    ] {
        let request = CancelOrderRequest {
            id: id.clone(),
            reason: Some(reason.into()),
            refund_amount: None,
        };
        let answer = bed.orders().cancel_order(bed.admin(request)).await;
        let refusal = refused(order(answer, |answer| answer.order));
        assert_eq!(refusal, ("validation_failed".into(), vec!["reason".into()]));
    }
}
