//! Orders are refunded in parts.

use proptest::prelude::*;

use super::{refund::refund, *};
use crate::order::model::{LineUnits, PaymentStatus, Refund, RefundedPart, refund::MAX_REFUNDS};

/// An order of 3 units at 12.00 with tax and one at 5.00, shipping of 5.00 and a bonus of 9.00, fully paid.
fn paid_order() -> (OrderWithLines, Vec<Payment>) {
    let lines = [(quote("10", "20", "3"), 3), (quote("5", "0", "0"), 1)];
    let mut order = order(&lines, None);
    let mut payments = Vec::new();
    pay(&mut order, &mut payments, amount("46"));
    (order, payments)
}

fn units(order: &OrderWithLines, index: usize, quantity: i32) -> LineUnits {
    LineUnits {
        line_id: order.lines[index].id,
        quantity,
    }
}

fn compute(
    order: &OrderWithLines,
    payments: &[Payment],
    part: RefundedPart,
) -> Result<Refund, Error> {
    order.partial_refund(payments, 0, part, None)
}

/// Computes a refund of an amount and applies it.
fn apply(order: &mut OrderWithLines, payments: &mut [Payment], part: Amount) -> Refund {
    let computed = compute(order, payments, RefundedPart::Amount(part)).unwrap();
    refund(payments, &computed.legs);
    refund(payments, &computed.rounded_off);
    order.refund(&computed, &[], later()).unwrap();
    computed
}

#[test]
fn units_are_worth_their_price_and_tax() {
    let (mut order, payments) = paid_order();
    let lines = vec![units(&order, 0, 2), units(&order, 1, 1)];
    let refund = compute(&order, &payments, RefundedPart::Lines(lines.clone())).unwrap();
    assert_eq!(refund.amount, amount("29"));
    assert_eq!(refund.lines, lines);
    order.refund(&refund, &[], later()).unwrap();
    let refunded: Vec<_> = order
        .lines
        .iter()
        .map(|line| line.refunded_quantity)
        .collect();
    assert_eq!(refunded, [2, 1]);
    assert_eq!(order.order.payment_status, PaymentStatus::PartiallyRefunded);
}

#[test]
fn units_are_refunded_once() {
    let (mut order, mut payments) = paid_order();
    let lines = RefundedPart::Lines(vec![units(&order, 0, 2)]);
    let first = compute(&order, &payments, lines).unwrap();
    refund(&mut payments, &first.legs);
    order.refund(&first, &[], later()).unwrap();
    let more = RefundedPart::Lines(vec![units(&order, 1, 1), units(&order, 0, 2)]);
    let refused = compute(&order, &payments, more);
    assert_refused(refused, Code::ValidationFailed, &["lines[1].quantity"]);
}

#[test]
fn the_bonus_follows_the_least_that_stayed_paid() {
    let (mut order, mut payments) = paid_order();
    let first = apply(&mut order, &mut payments, amount("23"));
    assert_eq!(first.bonus_revoked, amount("4.5"));
    pay(&mut order, &mut payments, amount("23"));
    assert_eq!(order.order.payment_status, PaymentStatus::FullyPaid);
    let second = apply(&mut order, &mut payments, amount("1"));
    assert_eq!(second.bonus_revoked, amount("4.5"));
    let third = apply(&mut order, &mut payments, amount("23"));
    // 9 x 24 / 46 is 4.6956...
    assert_eq!(third.bonus_revoked, amount("4.70"));
}

#[test]
fn the_number_of_refunds_has_a_bound() {
    let (order, payments) = paid_order();
    let refund = |part, refunds| {
        let part = RefundedPart::Amount(amount(part));
        order.partial_refund(&payments, refunds, part, None)
    };
    assert!(refund("45.99", MAX_REFUNDS - 1).is_ok());
    assert_refused(refund("45.99", MAX_REFUNDS), Code::InvalidState, &[]);
    assert!(refund("46", MAX_REFUNDS).is_ok());
}

proptest! {
    /// Points come back in proportion, never more of them, and all of them in the end.
    #[test]
    fn a_series_of_refunds_creates_no_value(
        points in 1_u32..1_000, value in 1_u32..5_000, cash in 0_u32..5_000,
        parts in prop::collection::vec(1_u32..2_000, 1..20),
    ) {
        let bonus_asset = BonusAsset {
            code: "points".into(),
            decimal_places: DecimalPlaces::new(0).unwrap(),
            conversion: None,
        };
        let price = cents(value + cash).to_string();
        let lines = [(quote(&price, "0", "0"), 1)];
        let mut order = order(&lines, Some(&bonus_asset));
        let mut payments = Vec::new();
        let bonus = Leg {
            asset_code: "points".into(),
            amount: amount(&points.to_string()),
            order_amount: Some(cents(value)),
            ..order.order.payment_leg(order.order.wallet_id, Amount::ZERO)
        };
        record(&mut order, &mut payments, bonus);
        if cash > 0 {
            pay(&mut order, &mut payments, cents(cash));
        }
        for part in parts {
            let part = cents(part).min(order.order.paid_amount);
            if compute(&order, &payments, RefundedPart::Amount(part)).is_err() {
                continue;
            }
            apply(&mut order, &mut payments, part);
            let paid = &payments[0];
            let exact = paid.refunded_value.units() * i128::from(points);
            prop_assert!(paid.refunded_amount.units() * cents(value).units() <= exact * 100_000_000);
        }
        if order.order.paid_amount.is_positive() {
            let rest = order.order.paid_amount;
            apply(&mut order, &mut payments, rest);
        }
        for payment in payments {
            prop_assert_eq!(payment.refunded_amount, payment.amount);
        }
    }
}
