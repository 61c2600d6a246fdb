//! The pure rules: amounts add up, money goes back exactly, units stay in bounds.

mod bonus;
mod cart;
mod fulfilment;
mod money;

use chrono::{DateTime, Utc};
use platform::{
    ids::Ids,
    money::{Amount, DecimalPlaces, Percent, Rounding},
};

use super::{
    bonus::BonusAsset,
    cart::{Buyer, Cart, NewLine, NewOrder},
    model::{DeliveryMethod, OrderWithLines, Product},
    quote::Quote,
};

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

fn order(lines: &[(Quote, i32)], bonus: Option<&BonusAsset>) -> OrderWithLines {
    let ids = Ids::seeded(7);
    let quantities: Vec<_> = lines.iter().map(|(_, quantity)| *quantity).collect();
    let cart = Cart {
        new: &new_order(&ids, &quantities),
        quotes: lines.iter().map(|(quote, _)| Some(quote.clone())).collect(),
        buyer: &buyer(&ids),
        bonus,
        shipping: &"usd=5".parse().unwrap(),
    };
    cart.order(&ids, now()).unwrap()
}

fn cents(n: u32) -> Amount {
    Amount::from_units(i128::from(n) * 1_000_000).unwrap()
}
