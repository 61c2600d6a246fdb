//! Carts become orders.

use platform::error::FieldCode;
use proptest::prelude::*;

use super::*;
use crate::{
    config::ShippingAmounts,
    order::model::{AnswerFault, OrderStatus, PaymentStatus},
};

/// The inputs of a cart of one and two units of two products.
struct Inputs {
    quotes: Vec<Option<Quote>>,
    new: NewOrder,
    buyer: Buyer,
    by_admin: bool,
    shipping: ShippingAmounts,
}

impl Inputs {
    fn quote(&mut self, position: usize) -> &mut Quote {
        self.quotes[position].as_mut().unwrap()
    }
}

/// The result of a cart that was good before the change.
fn order_with(change: impl FnOnce(&mut Inputs)) -> Result<OrderWithLines, Error> {
    let ids = Ids::seeded(7);
    let mut inputs = Inputs {
        quotes: vec![Some(quote("10", "20", "1")); 2],
        new: new_order(&ids, &[1, 2]),
        buyer: buyer(&ids),
        by_admin: false,
        shipping: ShippingAmounts::default(),
    };
    change(&mut inputs);
    let cart = Cart {
        new: &inputs.new,
        quotes: inputs.quotes,
        buyer: &inputs.buyer,
        by_admin: inputs.by_admin,
        bonus: None,
        shipping: &inputs.shipping,
    };
    cart.into_order(&ids, now())
}

#[test]
fn a_rejection_names_its_lines() {
    let order = order_with(|inputs| inputs.quotes[1] = None);
    assert_refused(order, Code::ValidationFailed, &["lines[1].productId"]);

    let order = order_with(|inputs| inputs.quote(0).available = false);
    assert_refused(order, Code::ProductUnavailable, &["lines[0].productId"]);

    let order = order_with(|inputs| inputs.quote(1).visible = false);
    assert_refused(order, Code::ProductUnavailable, &["lines[1].productId"]);

    let order = order_with(|inputs| inputs.quote(1).asset_code = "eur".into());
    assert_refused(order, Code::MixedAssets, &["lines[1].productId"]);

    let order = order_with(|inputs| inputs.quote(1).unit_price = amount("10.001"));
    assert_refused(order, Code::AmountPrecision, &["lines[1].productId"]);
    let order = order_with(|inputs| inputs.quote(0).unit_bonus = amount("0.001"));
    assert_refused(order, Code::AmountPrecision, &["lines[0].productId"]);

    let order = order_with(|inputs| inputs.quote(1).allow_choosing_quantity = false);
    assert_refused(order, Code::QuantityNotAllowed, &["lines[1].quantity"]);

    let order = order_with(|inputs| inputs.quote(0).requires_identity = true);
    assert_refused(order, Code::IdentityRequired, &["lines[0].productId"]);
}

#[test]
fn admins_order_products_that_are_not_shown() {
    let order = order_with(|inputs| {
        inputs.by_admin = true;
        inputs.quote(1).visible = false;
    });
    assert!(order.is_ok());
    let order = order_with(|inputs| {
        inputs.by_admin = true;
        inputs.quote(1).visible = false;
        inputs.quote(1).available = false;
    });
    assert_refused(order, Code::ProductUnavailable, &["lines[1].productId"]);
}

#[test]
fn a_rejection_names_every_line_it_applies_to() {
    let order = order_with(|inputs| {
        inputs.quote(0).available = false;
        inputs.quote(1).visible = false;
    });
    let both = ["lines[0].productId", "lines[1].productId"];
    assert_refused(order, Code::ProductUnavailable, &both);
}

#[test]
fn a_blocked_or_unapproved_user_cannot_order() {
    let order = order_with(|inputs| inputs.buyer.blocked = true);
    assert_refused(order, Code::ValidationFailed, &["userId"]);
    let order = order_with(|inputs| inputs.buyer.approved = false);
    assert_refused(order, Code::ValidationFailed, &["userId"]);
}

#[test]
fn faults_of_answers_are_reported_together() {
    let fault = |path: &str| AnswerFault {
        path: path.into(),
        code: FieldCode::Required,
        message: "is required".into(),
    };
    let order = order_with(|inputs| {
        inputs.quote(0).answer_faults = vec![fault("")];
        inputs.quote(1).answer_faults = vec![fault("color"), fault("sizes[0]")];
    });
    let fields = [
        "lines[0].productQuestionsResult",
        "lines[1].productQuestionsResult.color",
        "lines[1].productQuestionsResult.sizes[0]",
    ];
    assert_refused(order, Code::ValidationFailed, &fields);
}

#[test]
fn one_unit_of_a_product_without_choice_can_be_ordered() {
    let order = order_with(|inputs| {
        inputs.quote(0).allow_choosing_quantity = false;
    });
    assert!(order.is_ok());
}

#[test]
fn a_verified_user_can_order_what_requires_identity() {
    let order = order_with(|inputs| {
        inputs.quote(0).requires_identity = true;
        inputs.buyer.verified = true;
    });
    assert!(order.is_ok());
}

#[test]
fn an_empty_cart_is_an_internal_error() {
    let order = order_with(|inputs| {
        inputs.quotes.clear();
        inputs.new.lines.clear();
    });
    assert_refused(order, Code::Internal, &[]);
}

#[test]
fn amounts_are_exact() {
    let order = order(
        &[
            (quote("24.99", "10.75", "0.5"), 3),
            (quote("10", "20", "1"), 2),
        ],
        None,
    )
    .order;
    // 3 × 2.69 + 2 × 2.00
    assert_eq!(order.taxes_amount, amount("12.07"));
    // 3 × 27.68 + 2 × 12.00 + 5 for shipping
    assert_eq!(order.amount, amount("112.04"));
    assert_eq!(order.amount_without_taxes(), amount("99.97"));
    assert_eq!(order.amount_without_shipment(), amount("107.04"));
    assert_eq!(order.bonus, amount("3.5"));
    assert_eq!(order.unpaid_amount(), order.amount);
}

#[test]
fn a_new_order_is_unpaid_and_unfulfilled() {
    let order = order_of("10").order;
    assert_eq!(order.order_status, OrderStatus::Unfulfilled);
    assert_eq!(order.payment_status, PaymentStatus::Unpaid);
    assert_eq!(order.reference.len(), 8);
    assert_eq!(order.claims, 0);
    assert_eq!(order.version, 0);
}

#[test]
fn only_shipping_costs_a_shipping_amount() {
    for (method, shipping) in [
        (Some(DeliveryMethod::Shipping), "5"),
        (Some(DeliveryMethod::Pickup), "0"),
        (None, "0"),
    ] {
        let order = order_with(|inputs| {
            inputs.new.delivery_method = method;
            inputs.shipping = "usd=5".parse().unwrap();
        });
        assert_eq!(order.unwrap().order.shipping_amount, amount(shipping));
    }
}

#[test]
fn a_shipping_amount_finer_than_its_asset_is_rounded() {
    let order = order_with(|inputs| inputs.shipping = "usd=0.005".parse().unwrap());
    assert_eq!(order.unwrap().order.shipping_amount, amount("0.01"));
}

#[test]
fn sums_out_of_range_are_refused() {
    let order = order_with(|inputs| {
        inputs.quote(0).unit_price = amount("9999999999999999999");
        inputs.new.lines[0].quantity = 1_000_000;
    });
    assert_refused(order, Code::AmountOutOfRange, &[]);
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
        let OrderWithLines { order, lines } = order(&quoted, None);
        let net = order.amount_without_taxes().sub(order.shipping_amount).unwrap();
        let prices = lines.iter().map(|line| {
            line.unit_price.times(u64::from(line.quantity.unsigned_abs())).unwrap()
        });
        prop_assert_eq!(net, Amount::sum(prices).unwrap());
        for money in [order.amount, order.taxes_amount, order.bonus] {
            prop_assert!(money.fits(order.asset_decimal_places) && !money.is_negative());
        }
    }
}
