//! From a cart to an order.

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
        cart::{Buyer, Cart, NewOrder},
        model::PaymentStatus,
        quote::Quote,
    },
};

fn refusal(change: impl FnOnce(&mut Vec<Option<Quote>>, &mut NewOrder, &mut Buyer)) -> Failure {
    let ids = Ids::seeded(7);
    let (mut new, mut buyer) = (new_order(&ids, &[1, 2]), buyer(&ids));
    let mut quotes = vec![Some(quote("10", "20", "1")); 2];
    change(&mut quotes, &mut new, &mut buyer);
    let cart = Cart {
        new: &new,
        quotes,
        buyer: &buyer,
        bonus: None,
        shipping: &ShippingAmounts::default(),
    };
    cart.order(&ids, now()).unwrap_err().into()
}

fn named(failure: &Failure) -> (Code, Vec<&str>) {
    let fields = failure.fields.iter().map(|field| field.field.as_str());
    (failure.code, fields.collect())
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
            refusal(|quotes, _, _| quotes[1].as_mut().unwrap().visible = false),
            Code::ProductUnavailable,
            "lines[1].productId",
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
        bonus: None,
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
fn sums_that_do_not_fit_are_refused() {
    let failure = refusal(|quotes, new, _| {
        quotes[0].as_mut().unwrap().unit_price = amount("9999999999999999999");
        new.lines[0].quantity = 1_000_000;
    });
    assert_eq!(failure.code, Code::AmountOutOfRange);
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
}
