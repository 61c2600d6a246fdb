//! Prints the figures as tables, and beside their targets.

use std::collections::BTreeSet;

use super::{
    TARGET_IN_FLIGHT,
    benchmark::{Benchmark, Kind},
    load::Load,
    point::{Figures, Overload, Point, Results},
    tally::{Responses, Tally},
};
use crate::target::{at_least, at_most};

const MICROS_PER_MILLI: f64 = 1_000.0;

/// Prints everything.
pub fn print(benchmark: Benchmark, results: &Results) {
    println!("\n{}: {}", benchmark.name(), routes(benchmark));
    print_latencies(benchmark, results);
    print_cpu(benchmark, results);
    print_errors(results);
    if let Some(overload) = &results.overload {
        print_overload(overload);
    }
    print_targets(benchmark, results);
}

/// Formats what is sent.
fn routes(benchmark: Benchmark) -> String {
    let routes = benchmark
        .shares()
        .iter()
        .map(|(kind, percent)| match percent {
            100 => kind.route().to_owned(),
            _ => format!("{percent} % {}", kind.route()),
        });
    routes.collect::<Vec<_>>().join(", ")
}

/// Returns the figures of all points with what they are of.
fn rows(benchmark: Benchmark, results: &Results) -> Vec<(&'static str, Load, &Figures)> {
    let rows = results.all().flat_map(|point| {
        let reads = point.reads.as_ref();
        let reads = reads.map(|reads| (Kind::ProductRead.name(), point.load, reads));
        [(benchmark.name(), point.load, &point.figures)]
            .into_iter()
            .chain(reads)
    });
    rows.collect()
}

fn print_latencies(benchmark: Benchmark, results: &Results) {
    println!(
        "\n{:<14}{:>14}{:>10}{:>10}{:>9}{:>9}{:>9}",
        "", "", "1/s", "p50 ms", "p99", "p99.9", "max"
    );
    for (what, load, figures) in rows(benchmark, results) {
        let tally = &figures.tally;
        print_row(what, &load.to_string(), figures, &tally.admitted);
        if tally.by_kind.len() > 1 {
            for (kind, responses) in &tally.by_kind {
                print_row(&format!("  {}", kind.name()), "", figures, responses);
            }
        }
    }
}

fn print_row(what: &str, load: &str, figures: &Figures, responses: &Responses) {
    println!(
        "{what:<14}{load:>14}{:>10.0}{:>10}{:>9}{:>9}{:>9}",
        figures.each_second(responses),
        millis(responses, 0.5),
        millis(responses, 0.99),
        millis(responses, 0.999),
        millis(responses, 1.0),
    );
}

/// Formats a quantile, if there is one.
fn millis(responses: &Responses, quantile: f64) -> String {
    let millis = responses.millis(quantile);
    millis.map_or_else(|| "-".to_owned(), |millis| format!("{millis:.2}"))
}

fn print_cpu(benchmark: Benchmark, results: &Results) {
    let rows = rows(benchmark, results);
    let names = rows.iter().flat_map(|row| row.2.cpu_micros().into_keys());
    let names: BTreeSet<_> = names.collect();
    print!("\n{:<28}", "CPU, us a request");
    for name in &names {
        print!("{name:>14}");
    }
    println!("{:>16}", "without client");
    for (what, load, figures) in rows {
        let micros = figures.cpu_micros();
        print!("{what:<14}{:>14}", load.to_string());
        for name in &names {
            print!("{:>14.0}", micros.get(name).copied().unwrap_or_default());
        }
        println!("{:>16.0}", figures.stack_micros());
    }
}

fn print_errors(results: &Results) {
    println!();
    for point in results.all() {
        let errors = point.errors();
        println!("{}: {} errors", point.load, errors.values().sum::<u64>());
        for (error, count) in errors {
            println!("{count:>8} {error}");
        }
    }
}

fn print_overload(overload: &Overload) {
    let Overload {
        percent,
        peak,
        point,
    } = overload;
    let figures = &point.figures;
    println!("\nOverload: {percent} % of {peak:.0}/s, {}", point.load);
    let Tally {
        admitted, refused, ..
    } = &figures.tally;
    for (what, responses) in [("admitted", admitted), ("refused", refused)] {
        println!(
            "{:>8.0}/s {what}, p50 {} ms, p99 {} ms, max {} ms",
            figures.each_second(responses),
            millis(responses, 0.5),
            millis(responses, 0.99),
            millis(responses, 1.0),
        );
    }
    for (reason, count) in &figures.tally.refusals {
        println!("{count:>8} {reason}");
    }
}

fn print_targets(benchmark: Benchmark, results: &Results) {
    println!("\nTargets (on 2 idle cores)");
    let point = results.in_flight(TARGET_IN_FLIGHT);
    let figures = point.map(|point| &point.figures);
    let what = |what: &str| format!("{TARGET_IN_FLIGHT} in flight, {what}");
    if let Some(min_ratio) = benchmark.min_ratio() {
        let what = what(&format!("{} for a read", benchmark.name()));
        at_least(&what, point.and_then(Point::ratio), min_ratio);
    }
    if benchmark == Benchmark::Checkout {
        let micros = figures.map(Figures::stack_micros);
        let cpu = micros.map(|micros| micros / MICROS_PER_MILLI);
        at_most(&what("CPU ms a request"), cpu, 3.0);
        at_least(&what("1/s"), figures.map(Figures::rate), 600.0);
        let p99 = figures.and_then(|figures| figures.tally.admitted.millis(0.99));
        at_most(&what("p99 ms"), p99, 60.0);
    }
    let reads = match benchmark {
        Benchmark::ProductRead => figures,
        _ => point.and_then(|point| point.reads.as_ref()),
    };
    let what = what("product-read 1/s");
    at_least(&what, reads.map(Figures::rate), 2_000.0);
    if let Some(overload) = &results.overload {
        let tally = &overload.point.figures.tally;
        let [admitted, refused] = [tally.admitted.millis(0.99), tally.refused.millis(1.0)];
        at_most("overload, admitted, p99 ms", admitted, 250.0);
        at_most("overload, refused, max ms", refused, 100.0);
    }
}
