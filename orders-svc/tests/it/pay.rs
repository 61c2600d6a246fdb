//! Paying: in parts, in parallel, once.

use proto::{
    events::v1::OrderPaymentReceived,
    orders::v1::{FulfillOrderRequest, OrderStatus, PayOrderRequest, PaymentStatus},
};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::{
    bed::{Bed, new_id, order, refused, state},
    fakes::{Ledger, TILL},
};

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn two_payments_make_it_paid_then_fully_paid(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    let id = bed.place("69.00").await.id;
    let part = bed.pay(&id, Some("37")).await.unwrap();
    assert_eq!(
        state(&part),
        (OrderStatus::Unfulfilled, PaymentStatus::Paid, "37.00000000")
    );
    assert_eq!((&*part.unpaid_amount, part.paid_at), ("32.00000000", None));
    let more = refused(bed.pay(&id, Some("32.01")).await);
    assert_eq!(
        more,
        ("payment_exceeds_unpaid".into(), vec!["amount".into()])
    );

    let full = bed.pay(&id, None).await.unwrap();
    assert_eq!(full.payment_status(), PaymentStatus::FullyPaid);
    assert_eq!(&*full.unpaid_amount, "0.00000000");
    assert!(full.paid_at.is_some());
    assert_eq!(bed.money(), "31.00000000");
    assert_eq!(bed.world.balance(TILL, "usd"), "69.00000000");
    let received: OrderPaymentReceived = bed.event(&id, "OrderPaymentReceived").await;
    assert_eq!(
        (&*received.amount, received.transaction_ids.len()),
        ("32.00000000", 1)
    );
    let events = bed.events(&id).await;
    let received = "OrderPaymentReceived";
    assert_eq!(events, ["OrderPlaced", received, received, "OrderPaid"]);

    assert_eq!(refused(bed.pay(&id, None).await).0, "invalid_state");
    let posting = bed.world.state().posted[0].clone();
    assert_eq!((&*posting.code, posting.returns_money), ("pay", false));
    assert_eq!(posting.metadata, format!(r#"{{"orderId":"{id}"}}"#));
    bed.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn bad_payments_are_refused_and_change_nothing(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    let placed = bed.place("120.00").await;
    let pay = async |amount: Option<&str>, wallet_id: Option<&str>| {
        let request = PayOrderRequest {
            id: placed.id.clone(),
            amount: amount.map(str::to_owned),
            wallet_id: wallet_id.map(str::to_owned),
        };
        let answer = bed.orders().pay_order(bed.admin(request)).await;
        refused(order(answer, |answer| answer.order))
    };
    let purse = new_id();
    bed.add_wallet(&purse, &bed.add_user().id);
    for (amount, wallet_id, code, field) in [
        (Some("1e3"), None, "validation_failed", "amount"),
        (Some("-1"), None, "validation_failed", "amount"),
        (Some("0"), None, "validation_failed", "amount"),
        (Some("0.001"), None, "amount_precision", "amount"),
        (Some("120.01"), None, "payment_exceeds_unpaid", "amount"),
        (None, None, "insufficient_funds", "walletId"),
        (None, Some(&*purse), "insufficient_funds", "walletId"),
        (None, Some(TILL), "validation_failed", "walletId"),
        (None, Some("x"), "validation_failed", "walletId"),
        (None, Some(&*new_id()), "validation_failed", "walletId"),
    ] {
        assert_eq!(
            pay(amount, wallet_id).await,
            (code.into(), vec![field.into()])
        );
    }
    assert_eq!(refused(bed.pay(&new_id(), None).await).0, "order_not_found");
    assert_eq!(refused(bed.pay("x", None).await).0, "order_not_found");
    assert_eq!(bed.get(&placed.id).await, placed);
    assert_eq!(bed.money(), "100.00000000");
    bed.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn parallel_payments_take_the_money_once(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    let id = bed.place("60.00").await.id;
    let answers = futures::future::join_all((0..12).map(|_| bed.pay(&id, None))).await;
    let paid = answers.iter().filter(|answer| answer.is_ok()).count();
    assert_eq!(paid, 1);
    for answer in answers {
        if let Err(failure) = answer {
            let code = failure.code.as_str();
            assert!(["order_busy", "invalid_state"].contains(&code), "{failure}");
        }
    }
    assert_eq!(bed.money(), "40.00000000");
    assert_eq!(
        bed.get(&id).await.payment_status(),
        PaymentStatus::FullyPaid
    );
    bed.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn while_a_payment_is_under_way_the_order_is_busy(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let bed = Bed::new(options).await;
    let placed = bed.place("60.00").await;
    let id = &placed.id;
    bed.world.state().ledger = Ledger::Waits;
    let paying = bed.pay(id, None);
    let meanwhile = async {
        bed.world.asked.notified().await;
        let busy = bed.pay(id, None).await.unwrap_err();
        assert_eq!(busy.code.as_str(), "order_busy");
        assert!(busy.retry_after.is_some());
        assert_eq!(refused(bed.cancel(id, None).await).0, "order_busy");
        let fulfill = FulfillOrderRequest {
            id: id.clone(),
            tracking_id: None,
        };
        let answer = bed.orders().fulfill_order(bed.admin(fulfill)).await;
        assert_eq!(
            refused(order(answer, |answer| answer.order)).0,
            "order_busy"
        );
        assert_eq!(bed.get(id).await, placed);
        bed.world.go.notify_one();
    };
    let (paid, ()) = tokio::join!(paying, meanwhile);
    assert_eq!(paid.unwrap().payment_status(), PaymentStatus::FullyPaid);
    assert_eq!(bed.money(), "40.00000000");
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn payments_never_pass_the_amount(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    let id = bed.place("100.00").await.id;
    bed.pay(&id, Some("40")).await.unwrap();
    bed.pay(&id, Some("40")).await.unwrap();
    let third = refused(bed.pay(&id, Some("40")).await);
    assert_eq!(third.0, "payment_exceeds_unpaid");
    assert_eq!(bed.money(), "20.00000000");
}
