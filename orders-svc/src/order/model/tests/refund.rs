//! Orders are canceled and refunded.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::{
    config::ShippingAmounts,
    order::model::{Event, FulfilmentDirection, LineStatus, OrderStatus, PaymentStatus, Units},
};

pub(super) fn refund(payments: &mut [Payment], legs: &[Leg]) {
    for leg in legs {
        let payment = payments
            .iter_mut()
            .find(|payment| Some(payment.transaction_id) == leg.refunded_payment)
            .unwrap();
        payment.refunded_amount = payment.refunded_amount.add(leg.amount).unwrap();
        payment.refunded_value = payment.refunded_value.add(leg.value()).unwrap();
    }
}

#[test]
fn a_cancellation_refunds_everything_that_was_paid_by_default() {
    let mut order = order_of("10");
    let mut payments = Vec::new();
    pay(&mut order, &mut payments, amount("10"));
    let reason = Some(r#""late""#.to_owned());
    let cancellation = order.cancellation(&payments, None, reason.clone()).unwrap();
    let transactions = [Ids::system().next()];
    let events = order.cancel(&cancellation, &transactions, later()).unwrap();
    let refunded = BTreeMap::from([("usd".to_owned(), amount("10"))]);
    let expected = [
        Event::Canceled {
            refunded: refunded.clone(),
            refund: amount("10"),
        },
        Event::Refunded {
            amounts: refunded,
            refund: amount("10"),
            transactions: transactions.to_vec(),
        },
    ];
    assert_eq!(events, expected);
    let OrderWithLines { order, lines } = order;
    assert_eq!(order.order_status, OrderStatus::Canceled);
    assert_eq!(order.payment_status, PaymentStatus::FullyRefunded);
    assert_eq!(order.paid_amount, Amount::ZERO);
    assert_eq!(order.bonus_revoked, order.bonus);
    assert_eq!(order.cancel_reason, reason);
    assert_eq!(order.canceled_at, Some(later()));
    assert_eq!(lines[0].status, LineStatus::Canceled);
    assert_eq!(lines[0].updated_at, later());
}

#[test]
fn an_unpaid_order_is_canceled_without_a_refund() {
    let mut order = order_of("10");
    let cancellation = order.cancellation(&[], None, None).unwrap();
    let events = order.cancel(&cancellation, &[], now()).unwrap();
    let expected = Event::Canceled {
        refunded: BTreeMap::new(),
        refund: Amount::ZERO,
    };
    assert_eq!(events, [expected]);
    assert_eq!(order.order.payment_status, PaymentStatus::Unpaid);
}

#[test]
fn a_series_of_refunds_loses_no_cent() {
    let mut order = order_of("10");
    let mut payments = Vec::new();
    pay(&mut order, &mut payments, amount("1.00"));
    pay(&mut order, &mut payments, amount("9.00"));
    let mut refunded = Amount::ZERO;
    for part in ["3.33", "3.33", "3.34"] {
        let cancellation = order
            .cancellation(&payments, Some(amount(part)), None)
            .unwrap();
        assert_eq!(total(&cancellation.legs), amount(part));
        refund(&mut payments, &cancellation.legs);
        refunded = refunded.add(cancellation.amount).unwrap();
        order.order.paid_amount = order.order.paid_amount.sub(cancellation.amount).unwrap();
        let more = order.cancellation(&payments, Some(amount("3.35")), None);
        assert_eq!(more.is_ok(), order.order.paid_amount >= amount("3.35"));
    }
    assert_eq!(refunded, amount("10"));
    assert_eq!(order.order.paid_amount, Amount::ZERO);
    for payment in payments {
        assert_eq!(payment.refunded_amount, payment.amount);
    }
}

#[test]
fn the_newest_payment_is_refunded_first() {
    let mut order = order_of("10");
    let mut payments = Vec::new();
    pay(&mut order, &mut payments, amount("4"));
    pay(&mut order, &mut payments, amount("6"));
    let cancellation = order
        .cancellation(&payments, Some(amount("7")), None)
        .unwrap();
    let [newest, oldest] = &cancellation.legs[..] else {
        panic!("{:?}", cancellation.legs);
    };
    assert_eq!(newest.refunded_payment, Some(payments[1].transaction_id));
    assert_eq!(newest.wallet_id, payments[1].wallet_id);
    assert_eq!(newest.amount, amount("6"));
    assert_eq!(oldest.refunded_payment, Some(payments[0].transaction_id));
    assert_eq!(oldest.amount, amount("1"));
}

#[test]
fn bad_refunds_are_refused() {
    let mut order = order_of("10");
    let mut payments = Vec::new();
    pay(&mut order, &mut payments, amount("4"));
    for (bad, code) in [
        ("4.01", Code::RefundExceedsPaid),
        ("0.001", Code::AmountPrecision),
    ] {
        let refused = order.cancellation(&payments, Some(amount(bad)), None);
        assert_refused(refused, code, &["refundAmount"]);
    }
}

#[test]
fn payments_below_the_paid_amount_are_an_internal_error() {
    let mut order = order_of("10");
    pay(&mut order, &mut Vec::new(), amount("10"));
    let refused = order.cancellation(&[], None, None);
    assert_refused(refused, Code::Internal, &[]);
}

#[test]
fn a_free_orders_bonus_is_revoked() {
    let ids = Ids::seeded(7);
    let mut new = new_order(&ids, &[1]);
    new.delivery_method = None;
    let cart = Cart {
        new: &new,
        quotes: vec![Some(quote("0", "0", "3"))],
        buyer: &buyer(&ids),
        by_admin: false,
        bonus: None,
        shipping: &ShippingAmounts::default(),
    };
    let mut order = cart.into_order(&ids, now()).unwrap();
    order.order.mark_fully_paid_if_covered(now()).unwrap();
    let cancellation = order.cancellation(&[], None, None).unwrap();
    assert_eq!(cancellation.bonus_revoked, amount("3"));
    assert_eq!(cancellation.legs, []);
}

#[test]
fn a_bonus_that_was_never_granted_is_not_revoked() {
    let mut order = order_of("15");
    let mut payments = Vec::new();
    pay(&mut order, &mut payments, amount("4"));
    let cancellation = order.cancellation(&payments, None, None).unwrap();
    assert_eq!(cancellation.bonus_revoked, Amount::ZERO);
    assert_eq!(cancellation.amount, amount("4"));
}

#[test]
fn an_order_with_fulfilled_units_cannot_be_canceled() {
    let mut order = order(&[(quote("10", "0", "3"), 2)], None);
    let units = Units::Line {
        id: order.lines[0].id,
        quantity: Some(1),
    };
    order
        .move_units(FulfilmentDirection::Fulfill, units, now())
        .unwrap();
    let refused = order.cancellation(&[], None, None);
    assert_refused(refused, Code::InvalidState, &[]);
    order
        .move_units(FulfilmentDirection::Unfulfill, Units::AllLines, now())
        .unwrap();
    assert!(order.cancellation(&[], None, None).is_ok());
}

#[test]
fn a_canceled_order_accepts_no_action() {
    let mut order = order_of("10");
    let cancellation = order.cancellation(&[], None, None).unwrap();
    order.cancel(&cancellation, &[], now()).unwrap();
    let canceled = order.cancellation(&[], None, None);
    assert_refused(canceled, Code::InvalidState, &[]);
    let paid = order.order.check_payment(&[], None);
    assert_refused(paid, Code::InvalidState, &[]);
    for direction in [FulfilmentDirection::Fulfill, FulfilmentDirection::Unfulfill] {
        let moved = order.move_units(direction, Units::AllLines, now());
        assert_refused(moved, Code::InvalidState, &[]);
    }
}

proptest! {
    #[test]
    fn refunds_take_from_the_payments_newest_first(
        parts in prop::collection::vec(1_u32..10_000, 1..6),
        share in 0_u32..=100,
    ) {
        let paid: u32 = parts.iter().sum();
        let price = cents(paid).to_string();
        let mut order = order(&[(quote(&price, "0", "7.77"), 1)], None);
        let mut payments = Vec::new();
        for part in &parts {
            pay(&mut order, &mut payments, cents(*part));
        }
        let wanted = cents(paid * share / 100);
        let cancellation = order.cancellation(&payments, Some(wanted), None).unwrap();
        prop_assert_eq!(total(&cancellation.legs), wanted);
        for (leg, payment) in cancellation.legs.iter().zip(payments.iter().rev()) {
            prop_assert_eq!(leg.refunded_payment, Some(payment.transaction_id));
        }
        refund(&mut payments, &cancellation.legs);
        prop_assert!(payments.iter().all(|paid| paid.refunded_amount <= paid.amount));
        prop_assert!(cancellation.bonus_revoked <= order.order.bonus);
        order.cancel(&cancellation, &[], now()).unwrap();
        let left = order.order.paid_amount.add(order.order.unpaid_amount()).unwrap();
        prop_assert_eq!(left, order.order.amount);
    }
}
