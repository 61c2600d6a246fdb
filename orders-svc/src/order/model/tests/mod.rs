//! Tests of the pure rules, and the builders they share.

mod bonus;
mod cart;
mod claim;
mod fulfilment;
mod partial_refund;
mod payer;
mod payment;
mod refund;
mod status;
mod walk;

use chrono::{DateTime, Utc};
use platform::{
    error::{Code, Failure},
    ids::Ids,
    money::{Amount, DecimalPlaces, Percent, Rounding},
};

use super::{
    BonusAsset, Buyer, Cart, DeliveryMethod, Leg, NewLine, NewOrder, OrderWithLines, Payment,
    Product, Quote,
};
use crate::error::Error;

fn amount(text: &str) -> Amount {
    text.parse().unwrap()
}

fn cents(cents: u32) -> Amount {
    Amount::from_units(i128::from(cents) * 1_000_000).unwrap()
}

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp_millis(1_769_853_600_000).unwrap()
}

fn later() -> DateTime<Utc> {
    DateTime::from_timestamp_millis(1_769_853_660_000).unwrap()
}

/// A product in usd that anybody can buy in any quantity.
fn quote(price: &str, tax_rate: &str, bonus: &str) -> Quote {
    let usd_places = DecimalPlaces::new(2).unwrap();
    let unit_price = amount(price);
    let tax_rate = Percent::parse(tax_rate).unwrap();
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
        asset_decimal_places: usd_places,
        unit_price,
        tax_rate: Some(tax_rate),
        unit_tax: unit_price
            .percent(tax_rate, usd_places, Rounding::HalfAwayFromZero)
            .unwrap(),
        unit_bonus: amount(bonus),
        available: true,
        allow_choosing_quantity: true,
        requires_identity: false,
        visible: true,
        answer_faults: Vec::new(),
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
                answers: None,
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

/// An unpaid order of these quotes and quantities; shipping costs 5 usd.
fn order(lines: &[(Quote, i32)], bonus: Option<&BonusAsset>) -> OrderWithLines {
    let ids = Ids::seeded(7);
    let quantities: Vec<_> = lines.iter().map(|(_, quantity)| *quantity).collect();
    let cart = Cart {
        new: &new_order(&ids, &quantities),
        quotes: lines.iter().map(|(quote, _)| Some(quote.clone())).collect(),
        buyer: &buyer(&ids),
        by_admin: false,
        bonus,
        shipping: &"usd=5".parse().unwrap(),
    };
    cart.into_order(&ids, now()).unwrap()
}

/// An unpaid order of this amount, shipping included.
fn order_of(total: &str) -> OrderWithLines {
    let price = amount(total).sub(amount("5")).unwrap();
    order(&[(quote(&price.to_string(), "0", "1"), 1)], None)
}

/// Applies a payment in usd, as a claim of its own.
fn pay(order: &mut OrderWithLines, payments: &mut Vec<Payment>, paid: Amount) {
    let ids = Ids::system();
    let leg = order.order.payment_leg(ids.next(), paid);
    record(order, payments, leg);
}

/// Applies a leg, as a claim of its own.
fn record(order: &mut OrderWithLines, payments: &mut Vec<Payment>, leg: Leg) {
    let transaction_id = Ids::system().next();
    let legs = std::slice::from_ref(&leg);
    order
        .order
        .record_payment(legs, &[transaction_id], now())
        .unwrap();
    payments.push(Payment {
        transaction_id,
        claim: i32::try_from(payments.len()).unwrap(),
        leg: 0,
        wallet_id: leg.wallet_id,
        asset_code: leg.asset_code,
        amount: leg.amount,
        order_amount: leg.order_amount,
        is_bonus: leg.is_bonus,
        refunded_amount: Amount::ZERO,
        refunded_value: Amount::ZERO,
    });
}

fn total(legs: &[Leg]) -> Amount {
    Amount::sum(legs.iter().map(|leg| leg.amount)).unwrap()
}

#[track_caller]
fn assert_refused<T: std::fmt::Debug>(result: Result<T, Error>, code: Code, fields: &[&str]) {
    let failure = Failure::from(result.unwrap_err());
    let at: Vec<_> = failure.fields.iter().map(|at| at.field.as_str()).collect();
    assert_eq!(failure.code, code);
    assert_eq!(at, fields);
}
