//! The model of exchange rates, in hundredths.

use rand::{Rng as _, rngs::StdRng};
use serde_json::json;

use super::{compare::dollars, payment::Payment};
use crate::client::Client;

/// Base, quote, and the lowest and highest rate: points pay orders in part, so that many are spent when they
/// are taken back. No order depends on the first pair.
const PAIRS: [(&str, &str, i64, i64); 3] = [
    ("usd", "eur", 1, 1_000),
    ("usd", "points", 200, 2_000),
    ("points", "usd", 5, 50),
];
const USD_TO_POINTS: usize = 1;
const POINTS_TO_USD: usize = 2;
/// The rate of 1.
const ONE: i64 = 100;

/// The rates of the pairs, where there is one.
#[derive(Debug)]
pub(super) struct Rates([Option<i64>; PAIRS.len()]);

/// A new rate, or the end of one.
#[derive(Debug)]
pub(super) struct RateEdit {
    /// Index among the pairs.
    pair: usize,
    rate: Option<i64>,
}

/// A rate as numerator and denominator.
type Fraction = (i64, i64);

impl Rates {
    /// Makes one without any.
    pub(super) const fn new() -> Self {
        Self([None; PAIRS.len()])
    }

    /// Returns the change that bonuses need: a rate to points.
    pub(super) const fn first_edit() -> RateEdit {
        RateEdit {
            pair: USD_TO_POINTS,
            rate: Some(10 * ONE),
        }
    }

    pub(super) fn random_edit(&self, random: &mut StdRng) -> RateEdit {
        let pair = random.random_range(0..PAIRS.len());
        let (_, _, lowest, highest) = PAIRS[pair];
        let ends = self.0[pair].is_some() && random.random_bool(0.2);
        RateEdit {
            pair,
            rate: (!ends).then(|| random.random_range(lowest..=highest)),
        }
    }

    /// Makes a change on both sides.
    pub(super) async fn apply(&mut self, client: &Client, edit: &RateEdit) -> anyhow::Result<()> {
        let (base, quote, ..) = PAIRS[edit.pair];
        let path = format!("/rates/{base}/{quote}");
        let existed = self.0[edit.pair].is_some();
        self.0[edit.pair] = edit.rate;
        match edit.rate {
            None => client.delete(&path).await,
            Some(rate) if existed => {
                client
                    .update(&path, &json!({ "rate": dollars(rate) }))
                    .await
            }
            Some(rate) => {
                let body = json!({
                    "baseAssetCode": base, "quoteAssetCode": quote, "rate": dollars(rate),
                });
                client.create("/rates", &body).await.map(drop)
            }
        }
    }

    /// Converts the bonus of a unit to points, half away from zero. Without a rate there is none.
    pub(super) fn bonus(&self, usd: i64) -> i64 {
        let rate = self.find(USD_TO_POINTS, POINTS_TO_USD);
        rate.map_or(0, |(points, of)| (2 * usd * points + of) / (2 * of))
    }

    /// Returns the payment of an amount from a balance of points, as far as it goes: the value is rounded
    /// down, and the points are rounded up. Without a rate there is none.
    pub(super) fn cover(&self, balance: i64, amount: i64) -> Option<Payment> {
        let (usd, of) = self.find(POINTS_TO_USD, USD_TO_POINTS)?;
        let value = (balance * usd / of).min(amount);
        let points = (value * of + usd - 1) / usd;
        Some(Payment::Points { points, value })
    }

    /// Returns the rate of a pair, else the reciprocal of that of its inverse.
    fn find(&self, pair: usize, inverse: usize) -> Option<Fraction> {
        let own = self.0[pair].map(|rate| (rate, ONE));
        own.or_else(|| self.0[inverse].map(|rate| (ONE, rate)))
    }
}
