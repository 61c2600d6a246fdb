//! Orders are paid.

use super::*;
use crate::order::model::{Event, OrderStatus, PaymentStatus, payment::MAX_PAYMENTS};

#[test]
fn a_part_makes_an_order_paid_and_the_rest_fully_paid() {
    let mut order = order_of("69");
    let mut payments = Vec::new();
    pay(&mut order, &mut payments, amount("37"));
    assert_eq!(order.order.payment_status, PaymentStatus::Paid);
    assert_eq!(order.order.unpaid_amount(), amount("32"));
    assert_eq!(order.order.paid_at, None);
    pay(&mut order, &mut payments, amount("32"));
    assert_eq!(order.order.payment_status, PaymentStatus::FullyPaid);
    assert_eq!(order.order.unpaid_amount(), Amount::ZERO);
    assert_eq!(order.order.paid_at, Some(now()));
}

#[test]
fn a_payment_emits_its_value_and_the_last_one_paid() {
    let mut order = order_of("10").order;
    let ids = Ids::system();
    let transactions = [ids.next(), ids.next()];
    let legs = [
        Leg {
            asset_code: "points".into(),
            amount: amount("400"),
            order_amount: Some(amount("4")),
            ..order.payment_leg(ids.next(), Amount::ZERO)
        },
        order.payment_leg(ids.next(), amount("6")),
    ];
    let events = order.record_payment(&legs, &transactions, later()).unwrap();
    let received = Event::PaymentReceived {
        amount: amount("10"),
        transactions: transactions.to_vec(),
    };
    assert_eq!(events, [received, Event::Paid]);
    assert_eq!(order.updated_at, later());
}

#[test]
fn the_default_payment_is_the_unpaid_amount() {
    let mut order = order_of("69");
    let mut payments = Vec::new();
    pay(&mut order, &mut payments, amount("37"));
    let rest = order.order.check_payment(&payments, None);
    assert_eq!(rest.unwrap(), amount("32"));
    let part = order.order.check_payment(&payments, Some(amount("0.01")));
    assert_eq!(part.unwrap(), amount("0.01"));
}

#[test]
fn bad_payments_are_refused() {
    let order = order_of("69").order;
    for (bad, code) in [
        ("69.01", Code::PaymentExceedsUnpaid),
        ("0", Code::ValidationFailed),
        ("0.001", Code::AmountPrecision),
    ] {
        let refused = order.check_payment(&[], Some(amount(bad)));
        assert_refused(refused, code, &["amount"]);
    }
}

#[test]
fn a_fully_paid_order_takes_no_payment() {
    let mut order = order_of("10");
    let mut payments = Vec::new();
    pay(&mut order, &mut payments, amount("10"));
    let again = order.order.check_payment(&payments, None);
    assert_refused(again, Code::InvalidState, &[]);
}

#[test]
fn an_order_takes_at_most_a_hundred_payments() {
    let mut order = order_of("10");
    let mut payments = Vec::new();
    for _ in 0..MAX_PAYMENTS {
        order.order.check_payment(&payments, None).unwrap();
        pay(&mut order, &mut payments, amount("0.01"));
    }
    let one_too_many = order.order.check_payment(&payments, None);
    assert_refused(one_too_many, Code::InvalidState, &[]);
}

#[test]
fn an_order_of_amount_zero_is_marked_fully_paid_once() {
    let mut order = order(&[(quote("0", "0", "3"), 1)], None).order;
    order.amount = Amount::ZERO;
    order.shipping_amount = Amount::ZERO;
    let first = order.mark_fully_paid_if_covered(now());
    assert_eq!(first.unwrap(), Some(Event::Paid));
    assert_eq!(order.mark_fully_paid_if_covered(now()).unwrap(), None);
}

#[test]
fn an_unpaid_order_is_not_marked_fully_paid() {
    let mut order = order_of("10").order;
    assert_eq!(order.mark_fully_paid_if_covered(now()).unwrap(), None);
    assert_eq!(order.payment_status, PaymentStatus::Unpaid);
}

#[test]
fn an_activated_draft_is_unfulfilled() {
    let mut order = order_of("10").order;
    order.order_status = OrderStatus::Draft;
    assert_eq!(order.activate().unwrap(), Event::Placed);
    assert_eq!(order.order_status, OrderStatus::Unfulfilled);
}

#[test]
fn the_bonus_pays_before_the_wallet() {
    let order = order_of("10").order;
    let ids = Ids::system();
    let wallet_id = ids.next();
    let bonus = |paid| order.payment_leg(order.wallet_id, amount(paid));

    let both = order.immediate_payment(Some(bonus("4")), Some(wallet_id));
    let both = both.unwrap();
    assert_eq!(both.len(), 2);
    assert_eq!(both[0].amount, amount("4"));
    assert_eq!(both[1].wallet_id, wallet_id);
    assert_eq!(both[1].amount, amount("6"));

    let covered = order.immediate_payment(Some(bonus("10")), Some(wallet_id));
    assert_eq!(covered.unwrap(), [bonus("10")]);
    let empty = order.immediate_payment(Some(bonus("0")), None);
    assert_eq!(empty.unwrap(), []);
    let none = order.immediate_payment(None, None);
    assert_eq!(none.unwrap(), []);
}
