//! The data of the benchmarks, and the requests for it.

use anyhow::{Context as _, ensure};
use reqwest::RequestBuilder;
use serde_json::{Value, json};

use super::benchmark::Kind;
use crate::{
    api::{self, Api},
    catalogue,
    environment::Environment,
    fixture::Fixture,
};

/// The catalogue of the lists.
const PRODUCTS: u32 = 3_000;
const PAGE_SIZE: usize = 30;
/// Orders that are read.
const ORDERS: usize = 100;
/// The least number of buyers.
const MIN_BUYERS: usize = 64;
/// A service reads four lists of one caller at a time, and lets 28 more wait: with so many in flight of each
/// caller, none is refused.
const LISTS_PER_CALLER: usize = 16;
/// The least number of callers.
const MIN_CALLERS: usize = 4;

/// The data, as requests need it.
#[derive(Debug)]
pub struct Requests {
    api: Api,
    fixture: Fixture,
    /// Clients of callers that read lists, each with a key of its own.
    callers: Vec<Api>,
    /// Paths of orders.
    orders: Vec<String>,
}

impl Requests {
    /// Creates what requests of these kinds need.
    pub async fn prepare(
        environment: &Environment,
        kinds: &[Kind],
        in_flight: usize,
    ) -> anyhow::Result<Self> {
        let api = Api::new(environment);
        let needs = |kind| kinds.contains(&kind);
        let has_buyers = needs(Kind::Checkout) || needs(Kind::OrderRead);
        let buyers = if has_buyers {
            in_flight.max(MIN_BUYERS)
        } else {
            0
        };
        let fixture = Fixture::create(api.clone(), buyers).await?;
        let callers = if needs(Kind::ProductList) {
            catalogue::create_products(&api, PRODUCTS).await?;
            create_callers(&api, in_flight).await?
        } else {
            Vec::new()
        };
        let orders = if needs(Kind::OrderRead) {
            create_orders(&fixture).await?
        } else {
            Vec::new()
        };
        Ok(Self {
            api,
            fixture,
            callers,
            orders,
        })
    }

    /// Begins the request with this number.
    pub fn begin(&self, kind: Kind, number: usize) -> RequestBuilder {
        match kind {
            Kind::Checkout => self.fixture.order(number),
            Kind::ProductList => list(&self.callers[number % self.callers.len()]),
            Kind::ProductRead => self.fixture.read(),
            Kind::OrderRead => self.api.get(&self.orders[number % self.orders.len()]),
        }
    }
}

fn list(caller: &Api) -> RequestBuilder {
    caller.get(&format!("/products?page[size]={PAGE_SIZE}"))
}

/// Creates callers with API keys, and checks that they read whole pages.
async fn create_callers(api: &Api, in_flight: usize) -> anyhow::Result<Vec<Api>> {
    let mut callers = Vec::new();
    for number in 0..in_flight.div_ceil(LISTS_PER_CALLER).max(MIN_CALLERS) {
        let key = json!({ "name": format!("Caller {number}"), "roles": ["admin"] });
        let key = api.create("/api-keys", &key).await?;
        let key = key["key"].as_str().context("an API key")?;
        callers.push(api.with_key(key.to_owned()));
    }
    for caller in &callers {
        let page = body(list(caller)).await?;
        let products = page["data"].as_array().map_or(0, Vec::len);
        ensure!(products == PAGE_SIZE, "a page has {products} products");
    }
    Ok(callers)
}

/// Creates paid orders, and returns their paths.
async fn create_orders(fixture: &Fixture) -> anyhow::Result<Vec<String>> {
    let mut paths = Vec::new();
    for number in 0..ORDERS {
        let order = body(fixture.order(number)).await?;
        let id = order["data"]["id"].as_str().context("an order has an id")?;
        paths.push(format!("/orders/{id}"));
    }
    Ok(paths)
}

/// Sends a request that must succeed.
async fn body(request: RequestBuilder) -> anyhow::Result<Value> {
    let sent = api::send(request).await;
    let body = sent.map_err(|failure| anyhow::Error::msg(failure.reason))?;
    Ok(serde_json::from_str(&body)?)
}
