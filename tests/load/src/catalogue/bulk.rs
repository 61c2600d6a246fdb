//! Imports and the export, with the gateway's memory.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::{Api, EXPORT, IMPORT, IMPORTS, PRODUCTS_EACH, References, Table};
use crate::{
    bed::Bed,
    machine::{megabytes, peak_memory, resident_memory},
};

const GATEWAY: &str = "gateway";
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

const COLOURS: [&str; 4] = ["Red", "Blue", "Green", "Grey"];
const THINGS: [&str; 10] = [
    "shoe", "coat", "lamp", "table", "chair", "bag", "hat", "book", "cup", "pen",
];
const STUFFS: [&str; 5] = ["cotton", "wool", "oak", "steel", "glass"];

/// A quarter of the products is red by name, a fifth woollen by description, all are handmade, and
/// each has a word of its own.
fn product(number: u32, references: &References) -> Value {
    let pick = |words: &'static [&'static str], step: u32| {
        let place = number / step;
        words[place as usize % words.len()]
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

/// Makes all products, one import after the other.
pub(super) async fn import(
    bed: &Bed,
    api: &Api,
    references: &References,
    table: &mut Table,
) -> anyhow::Result<()> {
    let mut slowest = Duration::ZERO;
    for import in 0..IMPORTS {
        let numbers = import * PRODUCTS_EACH..(import + 1) * PRODUCTS_EACH;
        let lines = numbers.map(|number| format!("{}\n", product(number, references)));
        let body: String = lines.collect();
        let started = Instant::now();
        let request = api
            .post("/products/import")
            .header("content-type", "application/x-ndjson");
        let answer = request.body(body).send().await?.error_for_status()?;
        let answer: Value = answer.json().await?;
        slowest = slowest.max(started.elapsed());
        ensure!(answer["data"]["created"] == PRODUCTS_EACH, "{answer}");
    }
    let what = format!("import of {PRODUCTS_EACH} products, slowest of {IMPORTS}");
    table.row(&what, slowest.as_secs_f64(), "s", Some(IMPORT));
    let peak = megabytes(peak_memory(gateway(bed)?)?);
    table.row("the gateway's memory after them, peak", peak, "MB", None);
    Ok(())
}

/// Reads all products as one stream, from a gateway that has done nothing else: what an import left
/// to its allocator would hide what the export takes.
pub(super) async fn export(bed: &Bed, api: &Api, table: &mut Table) -> anyhow::Result<()> {
    bed.stack.stop(GATEWAY)?;
    bed.stack.start_again(GATEWAY, &[])?;
    let warm_up = api.get("/products?page[size]=1").send().await?;
    warm_up.error_for_status()?.bytes().await?;
    let gateway = gateway(bed)?;
    let before = resident_memory(gateway)?;
    let (mut most, mut looked) = (before, Instant::now());
    let (mut lines, mut bytes) = (0_u32, 0_usize);
    let started = Instant::now();
    let mut answer = api.get("/products/export").send().await?;
    ensure!(answer.status().is_success(), "{}", answer.status());
    while let Some(chunk) = answer.chunk().await? {
        bytes += chunk.len();
        lines += chunk
            .iter()
            .map(|byte| u32::from(*byte == b'\n'))
            .sum::<u32>();
        if looked.elapsed() >= BETWEEN_LOOKS {
            most = most.max(resident_memory(gateway)?);
            looked = Instant::now();
        }
    }
    let took = started.elapsed();
    ensure!(lines == IMPORTS * PRODUCTS_EACH, "{lines} lines");
    most = most.max(peak_memory(gateway)?);
    let what = format!("export of {lines} products");
    table.row(&what, took.as_secs_f64(), "s", None);
    let size = u32::try_from(bytes / 1024).context("a size")?;
    table.row("its size", megabytes(size), "MB", None);
    let growth = megabytes(most) - megabytes(before);
    let what = "growth of the gateway's memory meanwhile";
    table.row(what, growth, "MB", Some(EXPORT));
    Ok(())
}

fn gateway(bed: &Bed) -> anyhow::Result<u32> {
    let ids = bed.stack.process_ids();
    ids.get(GATEWAY).copied().context("the gateway runs")
}
