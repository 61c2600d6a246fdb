//! `bench tracing`: what tracing adds to a read at the default share of traces. The CPU time of `GET
//! /products/:id` on a stack that exports its spans is compared with that on one that traces nothing, in turns.

use std::collections::BTreeSet;

use anyhow::ensure;
use clap::Args;
use e2e::TraceCollector;

use crate::{
    Server,
    environment::{Environment, Options},
    machine,
    product_read::{ProductRead, REQUESTS, micros_each},
    table::Table,
};

const MAX_RATIO: f64 = 1.05;
/// The default of `TRACE_SAMPLE_RATIO`.
const SAMPLED: f64 = 0.05;
/// Within what factor of it the share is that was traced.
const TOLERANCE: f64 = 1.5;
/// The first span of a read.
const ROOT: &str = "GET /products/{id}";

/// Options of `load bench tracing`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Turns of each stack; one more before them warms up.
    #[arg(long, default_value_t = 20)]
    turns: u32,
    #[command(flatten)]
    server: Server,
}

/// Prints the CPU times, and fails if the ratio is out of its bound, or if another share of the reads was
/// traced than by default.
pub async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let Arguments { turns, server } = arguments;
    let collector = TraceCollector::default();
    let endpoint = collector.serve().await;
    let silent = Environment::start_empty(Options {
        settings: vec![("TRACE_SAMPLE_RATIO".to_owned(), "0".to_owned())],
        ..Options::new("silent", server.clone())
    })?;
    // Not `StackOptions::otlp`, which has every request traced.
    let traced = silent.start_beside(Options {
        settings: vec![("OTEL_EXPORTER_OTLP_ENDPOINT".to_owned(), endpoint)],
        ..Options::new("traced", server)
    })?;
    println!("load average {}", machine::load_average());
    let [without, with] = measure(&silent, &traced, turns).await?;
    let mut table = Table::default();
    table.row("GET /products/:id, not traced", without, "us", None);
    table.row("GET /products/:id, traced", with, "us", None);
    let ratio = with / without;
    println!("{:<52} {ratio:>9.3}     (at most {MAX_RATIO})", "ratio");
    silent.stop()?;
    // Processes export what they still have when they are stopped.
    traced.stop()?;
    check_share(&collector, REQUESTS * (turns + 1))?;
    ensure!(ratio <= MAX_RATIO, "tracing costs {ratio:.3} times as much");
    Ok(())
}

/// Returns the microseconds of a read on both stacks. Spans are exported some seconds later, so that a stack
/// works on its own while the other one has its turn: the CPU times are those of all turns of both.
async fn measure(
    silent: &Environment,
    traced: &Environment,
    turns: u32,
) -> anyhow::Result<[f64; 2]> {
    let reads = [
        ProductRead::prepare(silent).await?,
        ProductRead::prepare(traced).await?,
    ];
    for read in &reads {
        read.turn().await?;
    }
    let before = reads.each_ref().map(ProductRead::used);
    for number in 0..turns {
        let first = usize::from(!number.is_multiple_of(2));
        reads[first].turn().await?;
        reads[1 - first].turn().await?;
    }
    let after = reads.each_ref().map(ProductRead::used);
    Ok([0, 1].map(|index| micros_each(after[index] - before[index], turns)))
}

/// Prints which share of the reads was traced, and fails if it is not the default one, or if a trace lacks
/// the span of catalog-svc.
fn check_share(collector: &TraceCollector, requests: u32) -> anyhow::Result<()> {
    let spans = collector.spans();
    let (of_gateway, of_catalog): (Vec<_>, Vec<_>) = spans
        .iter()
        .filter(|exported| ["gateway", "catalog-svc"].contains(&&*exported.service))
        .partition(|exported| exported.service == "gateway");
    let catalog_traces: BTreeSet<_> = of_catalog.iter().map(|it| &it.span.trace_id).collect();
    let reads: Vec<_> = of_gateway
        .iter()
        .filter(|exported| exported.span.name == ROOT)
        .collect();
    let complete = reads
        .iter()
        .filter(|read| catalog_traces.contains(&read.span.trace_id));
    let (complete, traced) = (complete.count(), reads.len());
    println!("{traced} of {requests} reads were traced, {complete} of them in both processes");
    ensure!(complete == traced, "some traces are incomplete");
    let share = f64::from(u32::try_from(traced)?) / f64::from(requests);
    ensure!(
        share > SAMPLED / TOLERANCE && share < SAMPLED * TOLERANCE,
        "{share:.3} of the reads were traced, not {SAMPLED}"
    );
    Ok(())
}
