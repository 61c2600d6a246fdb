//! The results as a plot: latencies by throughput, and the distribution of the latencies of each point.

use std::ops::Range;

use plotters::prelude::*;

use super::{
    load::Load,
    point::{Point, Results},
};
use crate::plot::{
    Area, Axis, LABEL, MARKER, axes, colour, draw_legend, draw_line, svg as draw_svg,
};

const QUANTILES: [(&str, f64); 3] = [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)];
/// Shorter latencies are drawn as this one: the axis is logarithmic.
const MIN_MILLIS: f64 = 0.01;
/// The distributions end at the quantile 1 - 10^-4, and have a value at each step of the exponent.
const MAX_EXPONENT: f64 = 4.0;
const STEPS: u32 = 80;
/// The most labels of an axis.
const LABELS: usize = 11;

/// Returns the plot as SVG.
pub fn svg(benchmark: &str, results: &Results) -> anyhow::Result<String> {
    draw_svg(|top, bottom| {
        draw_throughput(top, benchmark, results)?;
        draw_distributions(bottom, benchmark, results)
    })
}

/// Draws quantiles over the throughput: lines through the closed loops, and open loops as triangles.
fn draw_throughput(area: &Area<'_>, benchmark: &str, results: &Results) -> anyhow::Result<()> {
    let rates = drawn(results).map(|point| point.figures.rate());
    let max_rate = rates.fold(1.0, f64::max) * 1.15;
    let x = Axis {
        description: "admitted requests a second",
        range: 0.0..max_rate,
        labels: LABELS,
        format: &f64::to_string,
    };
    let caption = format!("{benchmark}: latency by throughput");
    let mut chart = axes(area, &caption, x, latencies(results))?;
    for (index, (name, quantile)) in QUANTILES.into_iter().enumerate() {
        let place = |point: &Point| (point.figures.rate(), millis(point, quantile));
        let is_closed = |point: &&Point| matches!(point.load, Load::Closed(_));
        let closed = drawn(results).filter(is_closed).map(place);
        draw_line(&mut chart, index, name, MARKER, closed)?;
        let open = drawn(results).filter(|point| !is_closed(point)).map(place);
        let filled = colour(index).filled();
        chart.draw_series(open.map(|at| TriangleMarker::new(at, MARKER + 2, filled)))?;
    }
    // Above the highest of a point's markers.
    let label = |point: &Point| {
        let at = (point.figures.rate(), millis(point, 0.999) * 1.15);
        Text::new(point.load.to_string(), at, LABEL)
    };
    chart.draw_series(drawn(results).map(label))?;
    draw_legend(&mut chart, SeriesLabelPosition::UpperLeft)
}

/// Draws the latency of each point by quantile, on an axis that gives each nine as much room as the one before.
fn draw_distributions(area: &Area<'_>, benchmark: &str, results: &Results) -> anyhow::Result<()> {
    let x = Axis {
        description: "admitted requests that are this fast",
        range: 0.0..MAX_EXPONENT,
        labels: 5,
        format: &|exponent| format!("{} %", quantile(*exponent) * 100.0),
    };
    let caption = format!("{benchmark}: distribution of latencies");
    let mut chart = axes(area, &caption, x, latencies(results))?;
    for (index, point) in drawn(results).enumerate() {
        let exponents = (0..=STEPS).map(|step| f64::from(step) * MAX_EXPONENT / f64::from(STEPS));
        let curve = exponents.map(|exponent| (exponent, millis(point, quantile(exponent))));
        draw_line(&mut chart, index, &point.load.to_string(), 0, curve)?;
    }
    draw_legend(&mut chart, SeriesLabelPosition::LowerRight)
}

/// Returns the axis of latencies.
fn latencies(results: &Results) -> Axis<'static> {
    Axis {
        description: "milliseconds",
        range: millis_range(results),
        labels: LABELS,
        format: &f64::to_string,
    }
}

/// Returns the quantile of so many nines.
fn quantile(nines: f64) -> f64 {
    1.0 - 10.0_f64.powf(-nines)
}

fn millis(point: &Point, quantile: f64) -> f64 {
    let millis = point.figures.tally.admitted.millis(quantile);
    millis.unwrap_or_default().max(MIN_MILLIS)
}

/// Returns the points that have latencies.
fn drawn(results: &Results) -> impl Iterator<Item = &Point> {
    let all = results.all();
    all.filter(|point| !point.figures.tally.admitted.latencies.is_empty())
}

/// Returns the latencies that are drawn, with room for labels.
fn millis_range(results: &Results) -> Range<f64> {
    let all = |quantile| drawn(results).map(move |point| millis(point, quantile));
    let least = all(0.0).reduce(f64::min).unwrap_or(1.0);
    let most = all(quantile(MAX_EXPONENT)).fold(least, f64::max);
    least / 1.5..most * 3.0
}

#[cfg(test)]
mod tests {
    use super::{super::point::tests::results, *};

    #[test]
    fn a_plot_shows_every_load_and_quantile() {
        let svg = svg("checkout", &results()).unwrap();
        assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
        for label in ["16 in flight", "75/s sent", "p99.9", "99.99 %"] {
            assert!(svg.contains(label), "{label}");
        }
    }

    #[test]
    fn a_load_that_admits_nothing_is_drawn() {
        let mut results = results();
        results.overload = None;
        results.points[0].figures = super::super::point::Figures::new(&[]).unwrap();
        results.points[0].figures.seconds = 1.0;
        assert!(svg("checkout", &results).is_ok());
    }
}
