//! The model of what is for sale, in cents and in hundredths of a percent.

use rand::{Rng as _, rngs::StdRng};
use serde_json::{Value, json};

use super::{
    account::Account,
    compare::dollars,
    order::{Line, Order},
    payment::Payment,
    rates::{RateEdit, Rates},
    step::Cart,
};
use crate::{
    client::{Client, text},
    shop::{Buyer, create_category},
};

const PRODUCTS: usize = 5;
const TAX_RATES: usize = 2;
/// A hundred percent.
const WHOLE: i64 = 10_000;

/// A product as it is for sale now.
#[derive(Debug)]
struct Product {
    id: String,
    price: i64,
    /// In usd, like the price. Orders convert it to points.
    bonus: i64,
    available: bool,
    tax_rate: usize,
}

#[derive(Debug)]
struct TaxRate {
    id: String,
    rate: i64,
}

/// Products, tax rates, exchange rates, and whether usd can be paid with.
#[derive(Debug)]
pub(super) struct Catalogue {
    products: Vec<Product>,
    tax_rates: Vec<TaxRate>,
    rates: Rates,
    pub(super) usd_enabled: bool,
}

/// A change of the catalogue or of what it is based on.
#[derive(Debug)]
pub(super) enum Edit {
    Product {
        index: usize,
        price: i64,
        bonus: i64,
        available: bool,
    },
    TaxRate {
        index: usize,
        rate: i64,
    },
    /// Enables or disables usd.
    Asset,
    Rate(RateEdit),
}

impl Catalogue {
    pub(super) async fn create(client: &Client) -> anyhow::Result<Self> {
        let mut rates = Rates::new();
        rates.apply(client, &Rates::first_edit()).await?;
        let mut tax_rates = Vec::new();
        for rate in [0, 1_975].into_iter().cycle().take(TAX_RATES) {
            let body = json!({ "name": "VAT", "rate": dollars(rate) });
            let id = text(&client.create("/tax-rates", &body).await?, "id")?;
            tax_rates.push(TaxRate { id, rate });
        }
        let category = create_category(client).await?;
        let mut products = Vec::new();
        for (number, price) in (0..PRODUCTS).zip([1, 99, 1_050, 33_333, 250]) {
            let tax_rate = number % TAX_RATES;
            let bonus = price / 10;
            let body = json!({
                "name": format!("Product {number}"), "price": dollars(price),
                "bonus": dollars(bonus), "assetCode": "usd", "categoryId": category,
                "taxRateId": tax_rates[tax_rate].id, "allowChoosingQuantity": true,
            });
            let id = text(&client.create("/products", &body).await?, "id")?;
            products.push(Product {
                id,
                price,
                bonus,
                available: true,
                tax_rate,
            });
        }
        Ok(Self {
            products,
            tax_rates,
            rates,
            usd_enabled: true,
        })
    }

    pub(super) fn random_edit(&self, random: &mut StdRng) -> Edit {
        match random.random_range(0..10) {
            _ if !self.usd_enabled && random.random_bool(0.5) => Edit::Asset,
            0 => Edit::Asset,
            1 | 2 => Edit::Rate(self.rates.random_edit(random)),
            3..=5 => Edit::TaxRate {
                index: random.random_range(0..self.tax_rates.len()),
                rate: random.random_range(0..=WHOLE),
            },
            _ => Edit::Product {
                index: random.random_range(0..self.products.len()),
                price: random.random_range(1..50_000),
                bonus: random.random_range(0..10_000),
                available: random.random_bool(0.9),
            },
        }
    }

    /// Makes a change on both sides.
    pub(super) async fn apply(&mut self, client: &Client, edit: &Edit) -> anyhow::Result<()> {
        match *edit {
            Edit::Product {
                index,
                price,
                bonus,
                available,
            } => {
                let product = &mut self.products[index];
                (product.price, product.bonus) = (price, bonus);
                product.available = available;
                let path = format!("/products/{}", product.id);
                let body = json!({
                    "price": dollars(price), "bonus": dollars(bonus), "available": available,
                });
                client.update(&path, &body).await
            }
            Edit::TaxRate { index, rate } => {
                let tax_rate = &mut self.tax_rates[index];
                tax_rate.rate = rate;
                let path = format!("/tax-rates/{}", tax_rate.id);
                client
                    .update(&path, &json!({ "rate": dollars(rate) }))
                    .await
            }
            Edit::Asset => {
                self.usd_enabled = !self.usd_enabled;
                let body = json!({ "enabled": self.usd_enabled });
                client.update("/assets/usd", &body).await
            }
            Edit::Rate(ref edit) => self.rates.apply(client, edit).await,
        }
    }

    /// Returns the order that a cart leads to, without ids, or the code of the refusal.
    pub(super) fn order(&self, cart: &Cart, account: &mut Account) -> Result<Order, &'static str> {
        let mut lines = Vec::new();
        for &(index, quantity) in &cart.lines {
            let product = &self.products[index];
            if !product.available {
                return Err("product_unavailable");
            }
            let rate = self.tax_rates[product.tax_rate].rate;
            // Half away from zero.
            let tax = (product.price * rate + WHOLE / 2) / WHOLE;
            let bonus = self.rates.bonus(product.bonus);
            lines.push(Line::new(quantity, product.price, tax, bonus));
        }
        let mut order = Order::new(cart.buyer, lines);
        let payments = self.payments(cart, order.amount(), account.points)?;
        order.charge(&payments, account, self.usd_enabled)?;
        Ok(order)
    }

    /// Returns the payments at the creation: points as far as they go, then usd.
    fn payments(
        &self,
        cart: &Cart,
        amount: i64,
        points: i64,
    ) -> Result<Vec<Payment>, &'static str> {
        let mut payments = Vec::new();
        if cart.uses_bonus {
            let payment = self.rates.cover(points, amount);
            payments.push(payment.ok_or("rate_not_found")?);
        }
        if cart.uses_wallet {
            let covered: i64 = payments.iter().map(Payment::value).sum();
            payments.push(Payment::Usd(amount - covered));
        }
        Ok(payments)
    }

    /// Returns the request of a cart.
    pub(super) fn body(&self, cart: &Cart, buyers: &[Buyer]) -> Value {
        let buyer = &buyers[cart.buyer];
        let lines: Vec<_> = cart
            .lines
            .iter()
            .map(|&(index, quantity)| {
                json!({ "productId": self.products[index].id, "quantity": quantity })
            })
            .collect();
        let mut body = json!({ "userId": buyer.id, "lines": lines });
        if cart.uses_wallet {
            body["walletId"] = json!(buyer.wallet);
        }
        if cart.uses_bonus {
            body["useBonus"] = json!(true);
        }
        body
    }

    pub(super) fn random_line(&self, random: &mut StdRng) -> (usize, i64) {
        (
            random.random_range(0..self.products.len()),
            random.random_range(1..=4),
        )
    }
}
