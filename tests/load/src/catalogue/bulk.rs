//! Imports and the export of products, with the gateway's memory.

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::{
    Api, IMPORTS, MAX_EXPORT_MEGABYTES, MAX_IMPORT_SECONDS, PRODUCTS_EACH, References, Table,
};
use crate::{
    environment::Environment,
    machine::{megabytes, peak_memory, resident_memory},
};

const GATEWAY: &str = "gateway";
const SAMPLE_INTERVAL: Duration = Duration::from_millis(5);

const COLOURS: [&str; 4] = ["Red", "Blue", "Green", "Grey"];
const THINGS: [&str; 10] = [
    "shoe", "coat", "lamp", "table", "chair", "bag", "hat", "book", "cup", "pen",
];
const STUFFS: [&str; 5] = ["cotton", "wool", "oak", "steel", "glass"];

/// Returns the body of a product. A quarter of them is red by name, a fifth woollen by description, all
/// are handmade, and each has a unique word.
fn product(number: u32, references: &References) -> Value {
    let pick = |words: &'static [&'static str], step: u32| {
        let index = number / step;
        words[index as usize % words.len()]
    };
    let category = number as usize % references.categories.len();
    json!({
        "name": format!("{} {} {number}", pick(&COLOURS, 1), pick(&THINGS, 4)),
        "description": format!(
            "Made of {}, number n{number}, handmade in small batches by people who care, and sent \
             within {} days.", pick(&STUFFS, 40), number % 7 + 1),
        "categoryId": references.categories[category],
        "taxRateId": references.tax_rate,
        "price": format!("{}.99", number % 1000),
        "bonus": "0.50",
        "image": format!("https://images.example.com/{number}.jpg"),
    })
}

/// Creates the products with these numbers by one import, and returns how long that takes.
pub(super) async fn import_products(
    api: &Api,
    numbers: Range<u32>,
    references: &References,
) -> anyhow::Result<Duration> {
    let count = numbers.len();
    let lines = numbers.map(|number| format!("{}\n", product(number, references)));
    let body: String = lines.collect();
    let started = Instant::now();
    let request = api
        .post("/products/import")
        .header("content-type", "application/x-ndjson");
    let response = request.body(body).send().await?.error_for_status()?;
    let response: Value = response.json().await?;
    let elapsed = started.elapsed();
    ensure!(response["data"]["created"] == count, "{response}");
    Ok(elapsed)
}

/// Creates all products, one import after the other.
pub(super) async fn import(
    environment: &Environment,
    api: &Api,
    references: &References,
    table: &mut Table,
) -> anyhow::Result<()> {
    let mut slowest = Duration::ZERO;
    for import in 0..IMPORTS {
        let numbers = import * PRODUCTS_EACH..(import + 1) * PRODUCTS_EACH;
        slowest = slowest.max(import_products(api, numbers, references).await?);
    }
    let what = format!("import of {PRODUCTS_EACH} products, slowest of {IMPORTS}");
    table.row(&what, slowest.as_secs_f64(), "s", Some(MAX_IMPORT_SECONDS));
    let peak = megabytes(peak_memory(gateway(environment)?)?);
    table.row(
        "peak memory of the gateway after the imports",
        peak,
        "MB",
        None,
    );
    Ok(())
}

/// Reads all products as one stream, from a new gateway: memory that the allocator kept after an import
/// would hide the memory of the export.
pub(super) async fn export(
    environment: &Environment,
    api: &Api,
    table: &mut Table,
) -> anyhow::Result<()> {
    environment.stack.stop(GATEWAY)?;
    environment.stack.start_again(GATEWAY, &[])?;
    let warm_up = api.get("/products?page[size]=1").send().await?;
    warm_up.error_for_status()?.bytes().await?;
    let gateway = gateway(environment)?;
    let before = resident_memory(gateway)?;
    let (mut peak, mut sampled) = (before, Instant::now());
    let (mut lines, mut bytes) = (0_u32, 0_usize);
    let started = Instant::now();
    let mut response = api.get("/products/export").send().await?;
    ensure!(response.status().is_success(), "{}", response.status());
    while let Some(chunk) = response.chunk().await? {
        bytes += chunk.len();
        lines += chunk
            .iter()
            .map(|byte| u32::from(*byte == b'\n'))
            .sum::<u32>();
        if sampled.elapsed() >= SAMPLE_INTERVAL {
            peak = peak.max(resident_memory(gateway)?);
            sampled = Instant::now();
        }
    }
    let took = started.elapsed();
    ensure!(lines == IMPORTS * PRODUCTS_EACH, "{lines} lines");
    peak = peak.max(peak_memory(gateway)?);
    let what = format!("export of {lines} products");
    table.row(&what, took.as_secs_f64(), "s", None);
    let size = u32::try_from(bytes / 1024).context("a size")?;
    table.row("its size", megabytes(size), "MB", None);
    let growth = megabytes(peak) - megabytes(before);
    let what = "growth of the gateway's memory during the export";
    table.row(what, growth, "MB", Some(MAX_EXPORT_MEGABYTES));
    Ok(())
}

fn gateway(environment: &Environment) -> anyhow::Result<u32> {
    let ids = environment.stack.process_ids();
    ids.get(GATEWAY)
        .copied()
        .context("the gateway is not running")
}
