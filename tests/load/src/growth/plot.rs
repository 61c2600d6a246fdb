//! The figures as a plot: the CPU time of a transfer, and the latencies of reads, by the size of the history.

use std::ops::Range;

use plotters::prelude::SeriesLabelPosition;

use super::point::Point;
use crate::plot::{Area, Axis, MARKER, axes, draw_legend, draw_line, svg as draw_svg};

/// A line: its name, and the figures by the logarithm of the size.
type Line = (String, Vec<(f64, f64)>);

/// Less is drawn as this: the axis is logarithmic.
const MIN_FIGURE: f64 = 0.01;
/// The most labels of each axis: a size a power of ten.
const LABELS: usize = 11;
const SIZES: usize = 4;

/// Returns the plot as SVG.
pub fn svg(points: &[Point]) -> anyhow::Result<String> {
    draw_svg(|top, bottom| {
        let cpu = lines(points, &["randomCpu", "hotCpu"]);
        draw(top, "CPU time of a transfer", "microseconds", &cpu)?;
        let reads = lines(points, &["readsP50"]);
        draw(
            bottom,
            "first pages and past balances, p50",
            "milliseconds",
            &reads,
        )
    })
}

/// Returns the lines of all figures of some groups.
fn lines(points: &[Point], groups: &[&str]) -> Vec<Line> {
    let first = points.iter().take(1).flat_map(|point| &point.groups);
    let shown = first.filter(|group| groups.contains(&group.name));
    let figures = shown.flat_map(|group| {
        let figures = group.figures.iter();
        figures.map(|(figure, _)| (group.name, *figure))
    });
    let line = |(group, figure)| {
        let figures = points.iter().filter_map(|point| {
            let value = point.find(group, figure)?.max(MIN_FIGURE);
            Some((exponent(point), value))
        });
        (format!("{group}: {figure}"), figures.collect())
    };
    figures.map(line).collect()
}

fn exponent(point: &Point) -> f64 {
    f64::from(point.movements).log10()
}

fn draw(area: &Area<'_>, caption: &str, unit: &str, lines: &[Line]) -> anyhow::Result<()> {
    let all = || lines.iter().flat_map(|(_, figures)| figures);
    let [sizes, figures] = [bounds(all().map(|it| it.0)), bounds(all().map(|it| it.1))];
    let x = Axis {
        description: "movements",
        range: sizes.start - 0.1..sizes.end + 0.1,
        labels: SIZES,
        format: &|exponent| format!("{:.0}", 10.0_f64.powf(*exponent)),
    };
    let y = Axis {
        description: unit,
        range: decades(&figures),
        labels: LABELS,
        format: &f64::to_string,
    };
    let mut chart = axes(area, caption, x, y)?;
    for (number, (name, figures)) in lines.iter().enumerate() {
        draw_line(&mut chart, number, name, MARKER, figures.iter().copied())?;
    }
    draw_legend(&mut chart, SeriesLabelPosition::UpperLeft)
}

/// Returns the least and the most of some values.
fn bounds(values: impl Iterator<Item = f64> + Clone) -> Range<f64> {
    let least = values.clone().reduce(f64::min).unwrap_or(1.0);
    least..values.fold(least, f64::max)
}

/// Returns whole powers of ten around the values, which have labels, with room for the legend.
fn decades(values: &Range<f64>) -> Range<f64> {
    let exponents = values.start.log10().floor()..(values.end * 3.0).log10().ceil();
    10.0_f64.powf(exponents.start)..10.0_f64.powf(exponents.end)
}

#[cfg(test)]
mod tests {
    use super::{super::point::tests::points, *};

    #[test]
    fn a_plot_shows_every_figure_of_its_groups() {
        let svg = svg(&points()).unwrap();
        assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
        for label in ["randomCpu: postgres", "randomCpu: nats", "movements"] {
            assert!(svg.contains(label), "{label}");
        }
    }

    #[test]
    fn an_axis_ends_at_powers_of_ten() {
        assert_eq!(decades(&(2.0..9.0)), 1.0..100.0);
        assert_eq!(decades(&(0.01..0.2)), 0.01..1.0);
    }

    #[test]
    fn what_failed_is_left_out() {
        let lines = lines(&points(), &["pagesP50"]);
        assert_eq!(
            lines,
            [("pagesP50: transactions".to_owned(), vec![(4.0, 2.0)])]
        );
        assert!(svg(&[]).is_ok());
    }
}
