//! The results as a plot: latencies by throughput, and the distribution of the latencies of each point.

use std::ops::Range;

use plotters::{
    coord::{Shift, types::RangedCoordf64},
    prelude::*,
};

use super::{
    load::Load,
    point::{Point, Results},
};

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, LogCoord<f64>>>;

const SIZE: (u32, u32) = (900, 1_000);
const FONT: &str = "sans-serif";
const TITLE: (&str, u32) = (FONT, 20);
const LABEL: (&str, u32) = (FONT, 13);
/// The room of the labels of axes, in pixels.
const LEFT: u32 = 70;
const BOTTOM: u32 = 45;
const RIGHT: u32 = 35;
const MARKER: u32 = 4;
const QUANTILES: [(&str, f64); 3] = [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)];
/// Shorter latencies are drawn as this one: the axis is logarithmic.
const MIN_MILLIS: f64 = 0.01;
/// The distributions end at the quantile 1 - 10^-4, and have a value at each step of the exponent.
const MAX_EXPONENT: f64 = 4.0;
const STEPS: u32 = 80;
/// The colours of Okabe and Ito, which colour-blind people tell apart.
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];

/// Returns the plot as SVG.
pub fn svg(benchmark: &str, results: &Results) -> anyhow::Result<String> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let (top, bottom) = area.split_vertically(SIZE.1 / 2);
        draw_throughput(&top, benchmark, results)?;
        draw_distributions(&bottom, benchmark, results)?;
        area.present()?;
    }
    Ok(svg)
}

/// Draws quantiles over the throughput: lines through the closed loops, and open loops as triangles.
fn draw_throughput(area: &Area<'_>, benchmark: &str, results: &Results) -> anyhow::Result<()> {
    let rates = drawn(results).map(|point| point.figures.rate());
    let max_rate = rates.fold(1.0, f64::max) * 1.15;
    let caption = format!("{benchmark}: latency by throughput");
    let mut chart = axes(area, &caption, 0.0..max_rate, results)?;
    chart
        .configure_mesh()
        .x_label_formatter(&f64::to_string)
        .x_desc("admitted requests a second")
        .y_label_formatter(&f64::to_string)
        .y_desc("milliseconds")
        .max_light_lines(4)
        .label_style(LABEL)
        .draw()?;
    for (index, (name, quantile)) in QUANTILES.into_iter().enumerate() {
        let colour = COLOURS[index % COLOURS.len()];
        let place = |point: &Point| (point.figures.rate(), millis(point, quantile));
        let is_closed = |point: &&Point| matches!(point.load, Load::Closed(_));
        let line = LineSeries::new(drawn(results).filter(is_closed).map(place), &colour);
        let line = line.point_size(MARKER);
        chart
            .draw_series(line)?
            .label(name)
            .legend(move |at| legend(at, colour));
        let open = drawn(results).filter(|point| !is_closed(point)).map(place);
        chart.draw_series(open.map(|at| TriangleMarker::new(at, MARKER + 2, colour.filled())))?;
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
    let caption = format!("{benchmark}: distribution of latencies");
    let mut chart = axes(area, &caption, 0.0..MAX_EXPONENT, results)?;
    chart
        .configure_mesh()
        .x_labels(5)
        .x_label_formatter(&|exponent| format!("{} %", quantile(*exponent) * 100.0))
        .x_desc("admitted requests that are this fast")
        .y_label_formatter(&f64::to_string)
        .y_desc("milliseconds")
        .max_light_lines(4)
        .label_style(LABEL)
        .draw()?;
    for (index, point) in drawn(results).enumerate() {
        let colour = COLOURS[index % COLOURS.len()];
        let exponents = (0..=STEPS).map(|step| f64::from(step) * MAX_EXPONENT / f64::from(STEPS));
        let curve = exponents.map(|exponent| (exponent, millis(point, quantile(exponent))));
        chart
            .draw_series(LineSeries::new(curve, &colour))?
            .label(point.load.to_string())
            .legend(move |at| legend(at, colour));
    }
    draw_legend(&mut chart, SeriesLabelPosition::LowerRight)
}

/// Returns a chart whose axis of latencies is logarithmic.
fn axes<'a, 'b>(
    area: &'a Area<'b>,
    caption: &str,
    x: Range<f64>,
    results: &Results,
) -> anyhow::Result<Chart<'a, 'b>> {
    let chart = ChartBuilder::on(area)
        .caption(caption, TITLE)
        .margin(10)
        .margin_right(RIGHT)
        .x_label_area_size(BOTTOM)
        .y_label_area_size(LEFT)
        .build_cartesian_2d(x, millis_range(results).log_scale())?;
    Ok(chart)
}

fn draw_legend<'a, 'b: 'a>(
    chart: &mut Chart<'a, 'b>,
    position: SeriesLabelPosition,
) -> anyhow::Result<()> {
    chart
        .configure_series_labels()
        .position(position)
        .label_font(LABEL)
        .background_style(WHITE)
        .border_style(BLACK)
        .draw()?;
    Ok(())
}

fn legend((x, y): (i32, i32), colour: RGBColor) -> PathElement<(i32, i32)> {
    PathElement::new([(x, y), (x + 18, y)], colour)
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
