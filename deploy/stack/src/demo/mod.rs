//! A small shop to play with, created through the public REST API from `shop.json`.
//!
//! Each resource is searched for by its name, title, e-mail or reference, and created only where it
//! is missing: a second run changes nothing, and completes an interrupted one.

mod api;
mod steps;

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use serde_json::Value;

use self::{api::Api, steps::Seeding};

const SHOP: &str = include_str!("shop.json");

/// The number of created resources by kind: `products`.
pub type Created = BTreeMap<&'static str, usize>;

/// Creates the missing parts of the demo shop at this REST address. The error names the request that
/// was refused, and the problem.
pub fn seed(base: &str, api_key: &str) -> Result<Created> {
    let api = Api::new(base, api_key);
    let shop = shop()?;
    let mut seeding = Seeding {
        api: &api,
        ids: BTreeMap::new(),
        created: Created::new(),
    };
    let seeded = seeding.run(&shop);
    seeded.context("the demo shop is not complete")?;
    Ok(seeding.created)
}

/// Formats the counts in one line.
pub(crate) fn summary(created: &Created) -> String {
    let counts: Vec<_> = created
        .iter()
        .map(|(kind, n)| format!("{n} {kind}"))
        .collect();
    match counts.as_slice() {
        [] => "nothing was missing".to_owned(),
        counts => format!("{} created", counts.join(", ")),
    }
}

/// A command that shows the shop, for a shell with the stack's variables.
pub(crate) const HINT: &str = "curl -H \"apikey: $GUERDON_API_KEY\" \
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
    fn the_summary_lists_what_was_created() {
        assert_eq!(summary(&Created::new()), "nothing was missing");
        let created = Created::from([("products", 2), ("categories", 1)]);
        assert_eq!(summary(&created), "1 categories, 2 products created");
    }
}
