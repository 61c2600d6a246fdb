//! Properties of the pure rules: amounts add up, money goes back exactly, units stay in bounds.

use chrono::{DateTime, Utc};
use platform::{
    error::{Code, Failure},
    ids::Ids,
    money::{Amount, DecimalPlaces, Percent, Rounding},
};
use proptest::prelude::*;

use super::{
    cart::{Buyer, Cart, NewLine, NewOrder, Quote},
    claim::Leg,
    fulfilment::{Direction, Units},
    model::{
        DeliveryMethod, Event, LineStatus, OrderStatus, OrderWithLines, PaymentStatus, Product,
        TransactionId, WalletId,
    },
    payment::Payment,
};
use crate::config::ShippingAmounts;

fn amount(text: &str) -> Amount {
    text.parse().unwrap()
}

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp_millis(1_769_853_600_000).unwrap()
}

fn quote(price: &str, tax_rate: &str, bonus: &str) -> Quote {
    let cents = DecimalPlaces::new(2).unwrap();
    let (price, rate) = (amount(price), Percent::parse(tax_rate).unwrap());
    Quote {
        product: Product {
            name: "Lamp".into(),
            description: None,
            type_code: "physical".into(),
            image: None,
            thumbnail: None,
            custom_data: "{}".into(),
            metadata: "{}".into(),
            category: None,
        },
        asset_code: "usd".into(),
        asset_decimal_places: cents,
        unit_price: price,
        tax_rate: Some(rate),
        unit_tax: price
            .percent(rate, cents, Rounding::HalfAwayFromZero)
            .unwrap(),
        unit_bonus: amount(bonus),
        available: true,
        allow_choosing_quantity: true,
        requires_identity: false,
    }
}

fn buyer(ids: &Ids) -> Buyer {
    Buyer {
        approved: true,
        blocked: false,
        verified: false,
        wallet_id: ids.next(),
    }
}

fn new_order(ids: &Ids, quantities: &[i32]) -> NewOrder {
    NewOrder {
        user_id: ids.next(),
        lines: quantities
            .iter()
            .map(|&quantity| NewLine {
                product_id: ids.next(),
                quantity,
            })
            .collect(),
        delivery_method: Some(DeliveryMethod::Shipping),
        shipping_address_id: Some("home".into()),
        chosen_payment_method: None,
        user_notes: None,
        custom_data: "{}".into(),
        use_bonus: false,
        wallet_id: None,
    }
}

fn order(lines: &[(Quote, i32)], bonus_asset_code: Option<&str>) -> OrderWithLines {
    let ids = Ids::seeded(7);
    let quantities: Vec<_> = lines.iter().map(|(_, quantity)| *quantity).collect();
    let cart = Cart {
        new: &new_order(&ids, &quantities),
        quotes: lines.iter().map(|(quote, _)| Some(quote.clone())).collect(),
        buyer: &buyer(&ids),
        bonus_asset_code,
        shipping: &"usd=5".parse().unwrap(),
    };
    cart.order(&ids, now()).unwrap()
}

fn refusal(change: impl FnOnce(&mut Vec<Option<Quote>>, &mut NewOrder, &mut Buyer)) -> Failure {
    let ids = Ids::seeded(7);
    let (mut new, mut buyer) = (new_order(&ids, &[1, 2]), buyer(&ids));
    let mut quotes = vec![Some(quote("10", "20", "1")); 2];
    change(&mut quotes, &mut new, &mut buyer);
    let cart = Cart {
        new: &new,
        quotes,
        buyer: &buyer,
        bonus_asset_code: None,
        shipping: &ShippingAmounts::default(),
    };
    cart.order(&ids, now()).unwrap_err().into()
}

fn named(failure: &Failure) -> (Code, Vec<&str>) {
    let fields = failure.fields.iter().map(|field| field.field.as_str());
    (failure.code, fields.collect())
}

/// Pays so much, as a claim of its own would.
fn pay(order: &mut OrderWithLines, payments: &mut Vec<Payment>, paid: Amount) -> Vec<Event> {
    let ids = Ids::system();
    let (wallet_id, transaction_id): (WalletId, TransactionId) = (ids.next(), ids.next());
    let leg = Leg {
        wallet_id,
        asset_code: "usd".into(),
        amount: paid,
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
        refunded_amount: Amount::ZERO,
    });
    events
}

#[test]
fn every_refusal_names_its_lines() {
    for (failure, code, fields) in [
        (
            refusal(|quotes, _, _| quotes[1] = None),
            Code::ValidationFailed,
            "lines[1].productId",
        ),
        (
            refusal(|quotes, _, _| quotes[0].as_mut().unwrap().available = false),
            Code::ProductUnavailable,
            "lines[0].productId",
        ),
        (
            refusal(|quotes, _, _| quotes[1].as_mut().unwrap().asset_code = "eur".into()),
            Code::MixedAssets,
            "lines[1].productId",
        ),
        (
            refusal(|quotes, _, _| quotes[1].as_mut().unwrap().allow_choosing_quantity = false),
            Code::QuantityNotAllowed,
            "lines[1].quantity",
        ),
        (
            refusal(|quotes, _, _| quotes[0].as_mut().unwrap().requires_identity = true),
            Code::IdentityRequired,
            "lines[0].productId",
        ),
        (
            refusal(|_, _, buyer| buyer.blocked = true),
            Code::ValidationFailed,
            "userId",
        ),
        (
            refusal(|_, _, buyer| buyer.approved = false),
            Code::ValidationFailed,
            "userId",
        ),
    ] {
        assert_eq!(named(&failure), (code, vec![fields]));
    }
}

#[test]
fn one_unit_needs_no_choice_and_a_verified_user_no_questions() {
    let ids = Ids::seeded(7);
    let mut only = quote("10", "20", "1");
    (only.allow_choosing_quantity, only.requires_identity) = (false, true);
    let mut buyer = buyer(&ids);
    buyer.verified = true;
    let cart = Cart {
        new: &new_order(&ids, &[1]),
        quotes: vec![Some(only)],
        buyer: &buyer,
        bonus_asset_code: None,
        shipping: &ShippingAmounts::default(),
    };
    assert!(cart.order(&ids, now()).is_ok());
}

#[test]
fn amounts_are_exact() {
    let placed = order(
        &[
            (quote("24.99", "10.75", "0.5"), 3),
            (quote("10", "20", "1"), 2),
        ],
        None,
    );
    let order = &placed.order;
    // 3 × 2.69 + 2 × 2.00; 3 × 27.68 + 2 × 12.00 + 5 shipping
    assert_eq!(order.taxes_amount, amount("12.07"));
    assert_eq!(order.amount, amount("112.04"));
    assert_eq!(order.amount_without_taxes(), amount("99.97"));
    assert_eq!(order.amount_without_shipment(), amount("107.04"));
    assert_eq!(order.bonus, amount("3.5"));
    assert_eq!(
        (order.unpaid_amount(), order.reference.len()),
        (order.amount, 8)
    );
    assert_eq!(order.payment_status, PaymentStatus::Unpaid);
}

#[test]
fn a_bonus_in_another_asset_is_skipped_and_says_so() {
    let skipped = order(&[(quote("10", "0", "1"), 1)], Some("points")).order;
    assert_eq!(
        (skipped.bonus, skipped.bonus_asset_code.as_str()),
        (Amount::ZERO, "points")
    );
    assert_eq!(skipped.bonus_skipped.as_deref(), Some("rate_not_found"));
    let without = order(&[(quote("10", "0", "0"), 1)], Some("points")).order;
    assert_eq!(without.bonus_skipped, None);
    let same = order(&[(quote("10", "0", "1"), 1)], Some("usd")).order;
    assert_eq!((same.bonus, same.bonus_skipped), (amount("1"), None));
}

#[test]
fn sums_that_do_not_fit_are_refused() {
    let failure = refusal(|quotes, new, _| {
        quotes[0].as_mut().unwrap().unit_price = amount("9999999999999999999");
        new.lines[0].quantity = 1_000_000;
    });
    assert_eq!(failure.code, Code::AmountOutOfRange);
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
        bonus_asset_code: None,
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
            refunded: Amount::ZERO
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

#[test]
fn the_order_follows_its_lines() {
    let mut placed = order(
        &[(quote("1", "0", "0"), 2), (quote("1", "0", "0"), 1)],
        None,
    );
    let (first, second) = (placed.lines[0].id, placed.lines[1].id);
    let over = placed.move_units(Direction::Fulfill, Units::Some(first, 3), now());
    assert_eq!(Failure::from(over.unwrap_err()).fields[0].field, "quantity");
    placed
        .move_units(Direction::Fulfill, Units::Some(first, 1), now())
        .unwrap();
    assert_eq!(placed.lines[0].status, LineStatus::PartiallyFulfilled);
    placed
        .move_units(Direction::Fulfill, Units::Line(first), now())
        .unwrap();
    assert_eq!(placed.order.order_status, OrderStatus::Unfulfilled);
    let done = placed
        .move_units(Direction::Fulfill, Units::Line(second), now())
        .unwrap();
    assert_eq!(done.events, [Event::Fulfilled]);
    assert_eq!(placed.order.fulfilled_at, Some(now()));

    let nothing = placed
        .move_units(Direction::Fulfill, Units::Order, now())
        .unwrap();
    assert!(nothing.lines.is_empty() && nothing.events.is_empty());
    let undone = placed
        .move_units(Direction::Unfulfill, Units::Line(first), now())
        .unwrap();
    assert_eq!(undone.events, [Event::Unfulfilled]);
    assert_eq!(placed.order.fulfilled_at, None);
    let stranger = placed.move_units(Direction::Fulfill, Units::Line(Ids::system().next()), now());
    assert_eq!(
        Failure::from(stranger.unwrap_err()).code,
        Code::OrderLineNotFound
    );
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

fn cents(n: u32) -> Amount {
    Amount::from_units(i128::from(n) * 1_000_000).unwrap()
}

proptest! {
    #[test]
    fn an_order_is_the_sum_of_its_lines(
        lines in prop::collection::vec((0_u32..100_000_000, 0_u32..=10_000, 1_i32..=1_000_000), 1..20),
    ) {
        let quoted: Vec<_> = lines
            .iter()
            .map(|(price, rate, quantity)| {
                let price = cents(*price).to_string();
                (quote(&price, &cents(*rate).to_string(), "0.01"), *quantity)
            })
            .collect();
        let placed = order(&quoted, None);
        let order = &placed.order;
        let net = order.amount_without_taxes().sub(order.shipping_amount).unwrap();
        let prices = placed.lines.iter().map(|line| {
            line.unit_price.times(u64::from(line.quantity.unsigned_abs())).unwrap()
        });
        prop_assert_eq!(net, Amount::sum(prices).unwrap());
        for money in [order.amount, order.taxes_amount, order.bonus] {
            prop_assert!(money.fits(order.asset_decimal_places) && !money.is_negative());
        }
    }

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

    #[test]
    fn units_stay_within_bounds(steps in prop::collection::vec((any::<bool>(), 0_i32..5), 1..40)) {
        let mut placed = order(&[(quote("1", "0", "0"), 3), (quote("1", "0", "0"), 2)], None);
        let ids: Vec<_> = placed.lines.iter().map(|line| line.id).collect();
        for (forward, quantity) in steps {
            let direction = if forward { Direction::Fulfill } else { Direction::Unfulfill };
            let id = ids[usize::try_from(quantity).unwrap() % 2];
            let units = if quantity == 0 { Units::Order } else { Units::Some(id, quantity) };
            let _ = placed.move_units(direction, units, now());
            for line in &placed.lines {
                prop_assert!((0..=line.quantity).contains(&line.fulfilled_quantity));
                prop_assert_eq!(line.fulfilled_at.is_some(), line.status == LineStatus::Fulfilled);
            }
            let all = placed.lines.iter().all(|line| line.left() == 0);
            prop_assert_eq!(placed.order.order_status == OrderStatus::Fulfilled, all);
            prop_assert_eq!(placed.order.fulfilled_at.is_some(), all);
        }
    }
}
