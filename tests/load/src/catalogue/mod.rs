//! `bench catalogue`: imports and exports 100 000 products through the public API, and measures the
//! cost of page 1 of their lists in Postgres.

mod bulk;
mod pages;

use serde_json::{Value, json};

use crate::{
    Server,
    api::Api,
    environment::{Environment, Options},
    machine,
    table::Table,
};

const IMPORTS: u32 = 10;
const PRODUCTS_EACH: u32 = 10_000;
const CATEGORIES: usize = 20;

const MAX_IMPORT_SECONDS: f64 = 10.0;
/// Added to the gateway's memory.
const MAX_EXPORT_MEGABYTES: f64 = 30.0;
/// In Postgres.
const MAX_PAGE_MILLIS: f64 = 20.0;

/// The ids that products refer to.
struct References {
    categories: Vec<String>,
    tax_rate: String,
}

/// Prints the figures, and fails where one is out of bounds.
pub async fn run(server: Server) -> anyhow::Result<()> {
    let environment = Environment::start_empty(Options::new("catalogue", server))?;
    let api = Api::new(&environment);
    println!("load average {}", machine::load_average());
    let mut table = Table::default();
    let references = References::create(&api).await?;
    bulk::import(&environment, &api, &references, &mut table).await?;
    bulk::export(&environment, &api, &mut table).await?;
    pages::measure(&environment, &api, &references, &mut table).await?;
    environment.stop()?;
    table.check_bounds()
}

/// Creates so many products of all categories.
pub async fn create_products(api: &Api, count: u32) -> anyhow::Result<()> {
    let references = References::create(api).await?;
    bulk::import_products(api, 0..count, &references).await?;
    Ok(())
}

impl References {
    async fn create(api: &Api) -> anyhow::Result<Self> {
        let rate = json!({ "name": "VAT", "rate": "20" });
        let tax_rate = id(&api.create("/tax-rates", &rate).await?);
        let mut categories = Vec::new();
        for number in 0..CATEGORIES {
            let title = format!("{} {number}", ["Indoors", "Outdoors"][number % 2]);
            let category = json!({ "title": title });
            categories.push(id(&api.create("/categories", &category).await?));
        }
        Ok(Self {
            categories,
            tax_rate,
        })
    }
}

fn id(resource: &Value) -> String {
    resource["id"].as_str().unwrap_or_default().to_owned()
}
