//! A small shop to play with, made through the public REST API from `shop.json`.
//!
//! Each thing is looked for first, by its name, title, e-mail or reference, and made only where it is
//! missing: running it again changes nothing, and completes what an interrupted run left out.

mod api;
mod steps;

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Context, Result};
use serde_json::Value;

use self::api::Api;
use self::steps::Seeding;

const SHOP: &str = include_str!("shop.json");

/// What was made, in the order of making.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Tally(Vec<(&'static str, usize)>);

impl Tally {
    /// How many of this kind were made: `products`.
    pub fn made(&self, kind: &str) -> usize {
        let counted = self.0.iter().find(|(name, _)| *name == kind);
        counted.map_or(0, |(_, count)| *count)
    }

    /// Whether everything was there.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn count(&mut self, kind: &'static str) {
        match self.0.iter_mut().find(|(name, _)| *name == kind) {
            Some((_, count)) => *count += 1,
            None => self.0.push((kind, 1)),
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("nothing was missing");
        }
        for (n, (kind, count)) in self.0.iter().enumerate() {
            f.write_str(if n > 0 { ", " } else { "" })?;
            write!(f, "{count} {kind}")?;
        }
        f.write_str(" made")
    }
}

/// Makes what is missing of the demo shop at this REST address.
///
/// # Errors
/// Says which request was refused, and with which problem.
pub fn seed(base: &str, api_key: &str) -> Result<Tally> {
    let api = Api::new(base, api_key);
    let shop = shop()?;
    let mut seeding = Seeding {
        api: &api,
        ids: BTreeMap::new(),
        tally: Tally::default(),
    };
    seeding
        .run(&shop)
        .context("the demo shop is not complete")?;
    Ok(seeding.tally)
}

/// How to look at the shop, for somebody with the stack's variables in a shell.
pub const HINT: &str = "curl -H \"apikey: $GUERDON_API_KEY\" \
    \"$GUERDON_URL/products?include=category\"; or /orders, /tasks, /users, /wallets";

fn shop() -> Result<Value> {
    serde_json::from_str(SHOP).context("shop.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(shop: &Value, list: &str, key: &str) -> Vec<String> {
        let entries = shop[list].as_array().unwrap().iter();
        let names = entries.map(|entry| entry[key].as_str().unwrap().to_owned());
        let names: Vec<_> = names.collect();
        let mut unique = names.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), names.len(), "{list} are found by {key}");
        names
    }

    #[test]
    fn everything_is_found_by_a_name_of_its_own() {
        let shop = shop().unwrap();
        let categories = names(&shop, "categories", "title");
        let products = names(&shop, "products", "name");
        let users = names(&shop, "users", "email");
        names(&shop, "taxRates", "name");
        names(&shop, "questions", "title");
        names(&shop, "tasks", "name");
        names(&shop, "orders", "reference");
        assert_eq!(products.len(), 30);
        for product in shop["products"].as_array().unwrap() {
            assert!(categories.contains(&product["category"].as_str().unwrap().to_owned()));
            assert!(product["image"].as_str().unwrap().starts_with("https://"));
        }
        for order in shop["orders"].as_array().unwrap() {
            assert!(users.contains(&order["user"].as_str().unwrap().to_owned()));
        }
    }

    #[test]
    fn a_tally_is_one_line() {
        let mut tally = Tally::default();
        assert_eq!(tally.to_string(), "nothing was missing");
        for kind in ["categories", "products", "products"] {
            tally.count(kind);
        }
        assert_eq!(tally.to_string(), "1 categories, 2 products made");
        assert_eq!((tally.made("products"), tally.made("orders")), (2, 0));
    }
}
