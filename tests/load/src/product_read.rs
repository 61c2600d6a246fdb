//! `GET /products/:id` as benchmarks measure it: by the CPU time of the processes that answer it.

use anyhow::Context as _;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use serde_json::json;

use crate::{api::Api, environment::Environment, machine};

/// Requests of a turn, and how many of them are in flight.
pub const REQUESTS: u32 = 5_000;
const IN_FLIGHT: usize = 16;
const MICROS: f64 = 1e6;

/// A product of a stack, and the processes that answer its reads.
#[derive(Debug)]
pub struct ProductRead {
    api: Api,
    path: String,
    pub id: String,
    pub gateway: u32,
    pub catalog: u32,
}

impl ProductRead {
    /// Creates the product.
    pub async fn prepare(environment: &Environment) -> anyhow::Result<Self> {
        let api = Api::new(environment);
        let category = json!({ "title": "Books" });
        let category = api.create("/categories", &category).await?;
        let product = json!({
            "name": "A book", "description": "Of 300 pages.", "categoryId": category["id"],
            "price": "12.50", "customData": { "isbn": "978-3-16-148410-0" },
        });
        let product = api.create("/products", &product).await?;
        let id = product["id"].as_str().context("an id")?.to_owned();
        let processes = environment.stack.process_ids();
        let pid = |name: &str| {
            let pid = processes.get(name).copied();
            pid.with_context(|| format!("{name} is not running"))
        };
        Ok(Self {
            api,
            path: format!("/products/{id}"),
            id,
            gateway: pid("gateway")?,
            catalog: pid("catalog-svc")?,
        })
    }

    /// Reads the product in a turn.
    pub async fn turn(&self) -> anyhow::Result<()> {
        turn(async || {
            let response = self.api.get(&self.path).send().await?.error_for_status()?;
            response.bytes().await?;
            Ok(())
        })
        .await
    }

    /// Returns the CPU seconds that gateway and catalog-svc have spent until now.
    pub fn used(&self) -> f64 {
        used(&[self.gateway, self.catalog])
    }
}

/// Makes the calls of a turn.
pub async fn turn<F>(call: impl Fn() -> F) -> anyhow::Result<()>
where
    F: Future<Output = anyhow::Result<()>>,
{
    stream::iter(0..REQUESTS)
        .map(|_| call())
        .buffer_unordered(IN_FLIGHT)
        .try_collect()
        .await
}

/// Returns the CPU seconds that processes have spent until now.
pub fn used(processes: &[u32]) -> f64 {
    let times = processes.iter().map(|pid| machine::cpu_time(*pid).own);
    times.sum()
}

/// Returns the microseconds of a request, of the CPU seconds of turns.
pub fn micros_each(seconds: f64, turns: u32) -> f64 {
    seconds * MICROS / f64::from(REQUESTS * turns)
}
