//! `bench catalogue`: 100 000 products through the public API: in by imports, out by an export, and
//! what page 1 of their lists costs in Postgres.

mod bulk;
mod pages;

use anyhow::ensure;
use reqwest::Client;
use serde_json::{Value, json};

use crate::{
    Server,
    bed::{Bed, Options},
    machine,
};

const IMPORTS: u32 = 10;
const PRODUCTS_EACH: u32 = 10_000;
const CATEGORIES: usize = 20;

/// The longest that an import may take, in seconds.
const IMPORT: f64 = 10.0;
/// The most that an export may add to the gateway's memory, in megabytes.
const EXPORT: f64 = 30.0;
/// The longest that a page may take in Postgres, in milliseconds.
const PAGE: f64 = 20.0;

/// The public API of a bed.
struct Api {
    client: Client,
    base: String,
    key: String,
}

/// What products refer to.
struct References {
    categories: Vec<String>,
    tax_rate: String,
}

/// Prints the figures, and fails where one is out of bounds.
pub async fn run(server: Server) -> anyhow::Result<()> {
    let bed = Bed::start_anew(&Options {
        name: "catalogue",
        keep: false,
        wallets: 1,
        server,
    })?;
    let wiring = bed.stack.wiring();
    let api = Api {
        client: Client::new(),
        base: wiring.rest_url(),
        key: wiring.secrets.api_key.clone(),
    };
    println!("load average {}", machine::load_average());
    let mut table = Table::default();
    let references = References::make(&api).await?;
    bulk::import(&bed, &api, &references, &mut table).await?;
    bulk::export(&bed, &api, &mut table).await?;
    pages::measure(&bed, &api, &references, &mut table).await?;
    bed.stop()?;
    table.judge()
}

impl Api {
    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    fn get(&self, path: &str) -> reqwest::RequestBuilder {
        self.client.get(self.url(path)).header("apikey", &self.key)
    }

    fn post(&self, path: &str) -> reqwest::RequestBuilder {
        self.client.post(self.url(path)).header("apikey", &self.key)
    }

    async fn make(&self, path: &str, body: Value) -> anyhow::Result<String> {
        let answer = self.post(path).json(&body).send().await?;
        let body: Value = answer.error_for_status()?.json().await?;
        Ok(body["data"]["id"].as_str().unwrap_or_default().to_owned())
    }
}

impl References {
    async fn make(api: &Api) -> anyhow::Result<Self> {
        let rate = json!({ "name": "VAT", "rate": "20" });
        let tax_rate = api.make("/tax-rates", rate).await?;
        let mut categories = Vec::new();
        for number in 0..CATEGORIES {
            let title = format!("{} {number}", ["Indoors", "Outdoors"][number % 2]);
            categories.push(api.make("/categories", json!({ "title": title })).await?);
        }
        Ok(Self {
            categories,
            tax_rate,
        })
    }
}

/// The figures, and which of them are out of bounds.
#[derive(Default)]
struct Table {
    missed: Vec<String>,
}

impl Table {
    fn row(&mut self, what: &str, figure: f64, unit: &str, bound: Option<f64>) {
        let of = bound.map_or_else(String::new, |bound| format!("(below {bound} {unit})"));
        println!("{what:<52} {figure:>9.1} {unit:<3} {of}");
        if bound.is_some_and(|bound| figure >= bound) {
            self.missed.push(format!("{what}: {figure:.1} {unit} {of}"));
        }
    }

    fn judge(self) -> anyhow::Result<()> {
        let missed = self.missed.join("\n");
        ensure!(missed.is_empty(), "out of bounds:\n{missed}");
        println!("\nEverything is within its bounds.");
        Ok(())
    }
}
