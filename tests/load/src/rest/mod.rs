//! `bench checkout`, `bench product-list`, `bench product-read` and `bench mixed`: requests through the public
//! API, in closed loops, and in open loops at a rate.
//!
//! Latencies are of the requests that were to be sent within the window of a turn, however long that took; rates and
//! CPU times are of the responses within it.

mod arguments;
mod benchmark;
mod generator;
mod json;
mod load;
mod measure;
mod plot;
mod point;
mod report;
mod requests;
mod tally;

use anyhow::ensure;
use scenarios::checks;

pub use self::{arguments::Arguments, benchmark::Benchmark};
use self::{
    measure::Meter,
    point::{Point, Results},
};
use crate::{
    environment::{Environment, Options},
    machine::Machine,
    output, wal,
};

/// The point whose figures have targets.
const TARGET_IN_FLIGHT: u32 = 16;

/// Prints figures beside their targets. Fails on an error, on an inconsistent ledger, and if the ratio to
/// product reads is below its target.
pub async fn run(benchmark: Benchmark, arguments: Arguments) -> anyhow::Result<()> {
    let options = Options::new(benchmark.database(), arguments.server.clone());
    let environment = Environment::start_empty(options)?;
    let machine = Machine::read()?;
    println!("{machine}");
    let meter = Meter::prepare(&environment, &arguments, benchmark).await?;
    wal::allocate(&environment).await?;
    let results = meter.measure().await?;
    report::print(benchmark, &results);
    if let Some(directory) = &arguments.output {
        let document = json::document(benchmark, &arguments, &machine, &results);
        let plot = plot::svg(benchmark.name(), &results)?;
        output::write(directory, benchmark.name(), &document, &plot)?;
    }
    checks::assert_settled(&environment.stack).await?;
    environment.stack.check()?;
    environment.stop()?;
    check(benchmark, &results)
}

/// Fails on an error, and on a ratio that is too small.
fn check(benchmark: Benchmark, results: &Results) -> anyhow::Result<()> {
    let errors = results.all().map(|point| point.errors().len());
    ensure!(errors.sum::<usize>() == 0, "some requests failed");
    let point = results.in_flight(TARGET_IN_FLIGHT);
    if let Some((ratio, target)) = point.and_then(Point::ratio).zip(benchmark.min_ratio()) {
        ensure!(
            ratio >= target,
            "{} is too slow: {ratio:.2} for a read, not {target}",
            benchmark.name()
        );
    }
    Ok(())
}
