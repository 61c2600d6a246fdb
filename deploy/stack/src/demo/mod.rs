//! A small shop to play with, created through the public REST API from `shop.json`.
//!
//! Each resource is searched for by its name, title, e-mail or reference, and created only where it
//! is missing: a second run changes nothing, and completes an interrupted one.

mod api;
mod steps;

use std::{collections::BTreeMap, fmt};

use anyhow::{Context as _, Result};
use serde_json::Value;

use self::{api::Api, steps::Seeding};

const SHOP: &str = include_str!("shop.json");

/// Counts of created resources, in the order of creation.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Tally(Vec<(&'static str, usize)>);

impl Tally {
    /// Returns how many resources of this kind were created: `products`.
    pub fn created(&self, kind: &str) -> usize {
        let counted = self.0.iter().find(|(name, _)| *name == kind);
        counted.map_or(0, |(_, count)| *count)
    }

    /// Returns whether everything existed already.
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
        let counts: Vec<_> = self
            .0
            .iter()
            .map(|(kind, n)| format!("{n} {kind}"))
            .collect();
        write!(f, "{} created", counts.join(", "))
    }
}

/// Creates the missing parts of the demo shop at this REST address. The error names the request that
/// was refused, and the problem.
pub fn seed(base: &str, api_key: &str) -> Result<Tally> {
    let api = Api::new(base, api_key);
    let shop = shop()?;
    let mut seeding = Seeding {
        api: &api,
        ids: BTreeMap::new(),
        tally: Tally::default(),
    };
    let seeded = seeding.run(&shop);
    seeded.context("the demo shop is not complete")?;
    Ok(seeding.tally)
}

/// A command that shows the shop, for a shell with the stack's variables.
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
        let names: Vec<_> = entries
            .map(|entry| entry[key].as_str().unwrap().to_owned())
            .collect();
        let mut unique = names.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), names.len(), "{key} of {list} is not unique");
        names
    }

    #[test]
    fn every_entry_has_a_unique_name() {
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
    fn a_tally_is_formatted_in_one_line() {
        let mut tally = Tally::default();
        assert_eq!(tally.to_string(), "nothing was missing");
        for kind in ["categories", "products", "products"] {
            tally.count(kind);
        }
        assert_eq!(tally.to_string(), "1 categories, 2 products created");
        assert_eq!((tally.created("products"), tally.created("orders")), (2, 0));
    }
}
