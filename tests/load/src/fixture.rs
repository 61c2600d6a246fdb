//! A product, and buyers of it.

use anyhow::Context as _;
use reqwest::RequestBuilder;
use serde_json::{Value, json};

use crate::api::Api;

/// What each buyer has at first, in usd.
pub const FUNDS: u32 = 10_000_000;

/// A product of 12.00 usd with tax and with a bonus of 1.00, and buyers.
#[derive(Debug, Clone)]
pub struct Fixture {
    api: Api,
    product: Value,
    /// The id and the wallet of each.
    buyers: Vec<[Value; 2]>,
}

impl Fixture {
    /// Creates so many buyers, and the product.
    pub async fn create(api: Api, buyers: usize) -> anyhow::Result<Self> {
        let category = api
            .create("/categories", &json!({ "title": "All" }))
            .await?;
        let tax = json!({ "name": "VAT", "rate": "20" });
        let tax = api.create("/tax-rates", &tax).await?;
        let product = json!({
            "name": "Tea", "price": "10", "bonus": "1", "assetCode": "usd",
            "categoryId": category["id"], "taxRateId": tax["id"],
        });
        let product = api.create("/products", &product).await?["id"].clone();
        let mut fixture = Self {
            api,
            product,
            buyers: Vec::new(),
        };
        for number in 0..buyers {
            let buyer = create_buyer(&fixture.api, number).await?;
            fixture.buyers.push(buyer);
        }
        Ok(fixture)
    }

    /// Returns the same fixture at another gateway.
    pub fn at(&self, base: String) -> Self {
        Self {
            api: self.api.at(base),
            ..self.clone()
        }
    }

    /// Begins an order of a unit, created and paid in one request.
    pub fn order(&self, number: usize) -> RequestBuilder {
        let [id, wallet] = &self.buyers[number % self.buyers.len()];
        self.api.post("/orders").json(&json!({
            "userId": id, "lines": [{ "productId": self.product }], "walletId": wallet,
        }))
    }

    /// Begins a read of the product.
    pub fn read(&self) -> RequestBuilder {
        let id = self.product.as_str().unwrap_or_default();
        self.api.get(&format!("/products/{id}"))
    }
}

/// Creates a user with money, and returns its id and that of its wallet.
async fn create_buyer(api: &Api, number: usize) -> anyhow::Result<[Value; 2]> {
    let user = json!({
        "email": format!("buyer{number}@example.com"), "password": "Correct1Horse",
        "approved": true,
    });
    let user = api.create("/users", &user).await?;
    let deposit = json!({
        "amount": FUNDS.to_string(), "assetCode": "usd", "code": "internal", "data": {},
        "commit": true, "destinationWalletId": user["primaryWalletId"],
    });
    let deposit = api.create("/transactions/deposit", &deposit).await?;
    let id = deposit["id"].as_str().context("a deposit has an id")?;
    api.create(&format!("/transactions/{id}/confirm"), &json!({}))
        .await?;
    Ok([user["id"].clone(), user["primaryWalletId"].clone()])
}
