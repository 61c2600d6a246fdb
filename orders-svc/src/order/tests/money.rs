//! Payments and refunds.

use std::collections::BTreeMap;

use platform::{
    error::{Code, Failure},
    ids::Ids,
    money::Amount,
};
use proptest::prelude::*;

use super::{amount, buyer, cents, new_order, now, order, quote};
use crate::{
    config::ShippingAmounts,
    order::{
        cart::Cart,
        claim::Leg,
        fulfilment::{Direction, Units},
        model::{Event, LineStatus, OrderWithLines, PaymentStatus, TransactionId, WalletId},
        payment::Payment,
    },
};

/// Pays so much, as a claim of its own would.
fn pay(order: &mut OrderWithLines, payments: &mut Vec<Payment>, paid: Amount) -> Vec<Event> {
    let ids = Ids::system();
    let (wallet_id, transaction_id): (WalletId, TransactionId) = (ids.next(), ids.next());
    let leg = Leg {
        wallet_id,
        asset_code: "usd".into(),
        amount: paid,
        covers: None,
        refunds: None,
    };
    let events = order
        .order
        .receive(std::slice::from_ref(&leg), &[transaction_id], now())
        .unwrap();
    payments.push(Payment {
        transaction_id,
        claim: i32::try_from(payments.len()).unwrap(),
        leg: 0,
        wallet_id,
        asset_code: leg.asset_code,
        amount: paid,
        covers: None,
        refunded_amount: Amount::ZERO,
    });
    events
}

#[test]
fn two_payments_make_it_paid_then_fully_paid() {
    let mut placed = order(&[(quote("64", "0", "1"), 1)], None);
    let mut payments = Vec::new();
    let events = pay(&mut placed, &mut payments, amount("37"));
    assert_eq!(
        (events.len(), placed.order.payment_status),
        (1, PaymentStatus::Paid)
    );
    assert_eq!(placed.order.charge(None).unwrap(), amount("32"));
    let too_much = placed.order.charge(Some(amount("32.01"))).unwrap_err();
    assert_eq!(Failure::from(too_much).code, Code::PaymentExceedsUnpaid);
    for (bad, code) in [
        ("0", Code::ValidationFailed),
        ("0.001", Code::AmountPrecision),
    ] {
        let refused = placed.order.charge(Some(amount(bad))).unwrap_err();
        assert_eq!(Failure::from(refused).code, code);
    }
    let events = pay(&mut placed, &mut payments, amount("32"));
    assert_eq!(events[1], Event::Paid);
    assert_eq!(placed.order.payment_status, PaymentStatus::FullyPaid);
    assert_eq!(placed.order.paid_at, Some(now()));
    let paid = placed.order.charge(None).unwrap_err();
    assert_eq!(Failure::from(paid).code, Code::InvalidState);
}

#[test]
fn thirds_of_a_refund_lose_no_cent() {
    // Three refunds from the same payments, as a series of them would be.
    let mut placed = order(&[(quote("5", "0", "1"), 1)], None);
    let mut payments = Vec::new();
    pay(&mut placed, &mut payments, amount("1.00"));
    pay(&mut placed, &mut payments, amount("9.00"));
    let mut back = Amount::ZERO;
    for part in ["3.33", "3.33", "3.34"] {
        let cancellation = placed
            .cancellation(&payments, Some(amount(part)), None)
            .unwrap();
        assert_eq!(sum(&cancellation.legs), amount(part));
        refund(&mut payments, &cancellation.legs);
        back = back.add(cancellation.refund).unwrap();
        placed.order.paid_amount = placed.order.paid_amount.sub(cancellation.refund).unwrap();
        let more = placed.cancellation(&payments, Some(amount("3.35")), None);
        assert_eq!(more.is_ok(), placed.order.paid_amount >= amount("3.35"));
    }
    assert_eq!(
        (back, placed.order.paid_amount),
        (amount("10"), Amount::ZERO)
    );
    // The newest gave first; the remainder reached into the oldest.
    assert!(
        payments
            .iter()
            .all(|payment| payment.refunded_amount == payment.amount)
    );
}

#[test]
fn a_free_order_gives_its_bonus_back() {
    let ids = Ids::seeded(7);
    let mut new = new_order(&ids, &[1]);
    new.delivery_method = None;
    let cart = Cart {
        new: &new,
        quotes: vec![Some(quote("0", "0", "3"))],
        buyer: &buyer(&ids),
        bonus: None,
        shipping: &ShippingAmounts::default(),
    };
    let mut placed = cart.order(&ids, now()).unwrap();
    assert_eq!(placed.order.cover(now()), Some(Event::Paid));
    assert_eq!(placed.order.cover(now()), None);
    let cancellation = placed.cancellation(&[], None, None).unwrap();
    assert_eq!(
        (cancellation.bonus_revoked, cancellation.legs.len()),
        (amount("3"), 0)
    );
}

#[test]
fn what_was_never_granted_is_not_revoked() {
    let mut placed = order(&[(quote("10", "0", "3"), 1)], None);
    let mut payments = Vec::new();
    pay(&mut placed, &mut payments, amount("4"));
    let cancellation = placed.cancellation(&payments, None, None).unwrap();
    assert_eq!(cancellation.bonus_revoked, Amount::ZERO);
    assert_eq!(cancellation.refund, amount("4"));
}

#[test]
fn canceling_is_refused_once_units_are_fulfilled_or_it_is_canceled() {
    let mut placed = order(&[(quote("10", "0", "3"), 2)], None);
    let line = placed.lines[0].id;
    placed
        .move_units(Direction::Fulfill, Units::Some(line, 1), now())
        .unwrap();
    let refused = placed.cancellation(&[], None, None).unwrap_err();
    assert_eq!(Failure::from(refused).code, Code::InvalidState);
    placed
        .move_units(Direction::Unfulfill, Units::Order, now())
        .unwrap();
    let more = placed
        .cancellation(&[], Some(amount("1")), None)
        .unwrap_err();
    assert_eq!(Failure::from(more).code, Code::RefundExceedsPaid);

    let cancellation = placed
        .cancellation(&[], None, Some("\"why\"".into()))
        .unwrap();
    let events = placed.cancel(&cancellation, &[], now()).unwrap();
    assert_eq!(
        events,
        [Event::Canceled {
            refunded: BTreeMap::new()
        }]
    );
    assert_eq!(placed.order.payment_status, PaymentStatus::Unpaid);
    assert_eq!(placed.lines[0].status, LineStatus::Canceled);
    for refused in [
        placed.cancellation(&[], None, None).map(|_| ()),
        placed.order.charge(None).map(|_| ()),
        placed
            .move_units(Direction::Fulfill, Units::Order, now())
            .map(|_| ()),
    ] {
        let failure = Failure::from(refused.unwrap_err());
        assert_eq!(failure.code, Code::InvalidState);
    }
}

fn sum(legs: &[Leg]) -> Amount {
    Amount::sum(legs.iter().map(|leg| leg.amount)).unwrap()
}

fn refund(payments: &mut [Payment], legs: &[Leg]) {
    for leg in legs {
        let payment = payments
            .iter_mut()
            .find(|payment| Some(payment.transaction_id) == leg.refunds)
            .unwrap();
        payment.refunded_amount = payment.refunded_amount.add(leg.amount).unwrap();
    }
}

proptest! {
    #[test]
    fn refunds_come_from_what_was_paid_newest_first(
        parts in prop::collection::vec(1_u32..10_000, 1..6),
        share in 0_u32..=100,
    ) {
        let total: u32 = parts.iter().sum();
        let price = cents(total).to_string();
        let mut placed = order(&[(quote(&price, "0", "7.77"), 1)], None);
        let mut payments = Vec::new();
        for part in &parts {
            pay(&mut placed, &mut payments, cents(*part));
        }
        let wanted = cents(total * share / 100);
        let cancellation = placed.cancellation(&payments, Some(wanted), None).unwrap();
        prop_assert_eq!(sum(&cancellation.legs), wanted);
        // All legs but the last give a payment back whole, and they follow each other backwards.
        for (leg, payment) in cancellation.legs.iter().zip(payments.iter().rev()) {
            prop_assert_eq!(leg.refunds, Some(payment.transaction_id));
        }
        refund(&mut payments, &cancellation.legs);
        prop_assert!(payments.iter().all(|paid| paid.refunded_amount <= paid.amount));
        prop_assert!(cancellation.bonus_revoked <= placed.order.bonus);
        placed.cancel(&cancellation, &[], now()).unwrap();
        let left = placed.order.paid_amount.add(placed.order.unpaid_amount()).unwrap();
        prop_assert_eq!(left, placed.order.amount);
    }
}
