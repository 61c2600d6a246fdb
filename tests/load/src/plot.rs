//! Charts as SVG: lines over an axis of any kind, with a logarithmic one upwards.

use std::ops::Range;

use plotters::{
    coord::{Shift, types::RangedCoordf64},
    prelude::*,
};

/// A part of a plot.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// A chart with its axes.
pub type Chart<'a, 'b> =
    ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, LogCoord<f64>>>;

const SIZE: (u32, u32) = (900, 1_000);
const FONT: &str = "sans-serif";
const TITLE: (&str, u32) = (FONT, 20);
/// The font of labels.
pub const LABEL: (&str, u32) = (FONT, 13);
/// The room of the labels of axes, in pixels.
const LEFT: u32 = 70;
const BOTTOM: u32 = 45;
const RIGHT: u32 = 35;
/// The size of markers.
pub const MARKER: u32 = 4;
/// The colours of Okabe and Ito, which colour-blind people tell apart.
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];

/// An axis with its labels.
pub struct Axis<'a> {
    /// What it shows, with the unit.
    pub description: &'a str,
    /// What of it is drawn.
    pub range: Range<f64>,
    /// The most labels.
    pub labels: usize,
    /// Formats a label.
    pub format: &'a dyn Fn(&f64) -> String,
}

/// Draws two charts, one above the other, and returns them as SVG.
pub fn svg(
    draw: impl for<'a> FnOnce(&Area<'a>, &Area<'a>) -> anyhow::Result<()>,
) -> anyhow::Result<String> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let (top, bottom) = area.split_vertically(SIZE.1 / 2);
        draw(&top, &bottom)?;
        area.present()?;
    }
    Ok(svg)
}

/// Draws the axes of a chart; that of `y` is logarithmic.
pub fn axes<'a, 'b>(
    area: &'a Area<'b>,
    caption: &str,
    x: Axis<'_>,
    y: Axis<'_>,
) -> anyhow::Result<Chart<'a, 'b>> {
    let mut chart = ChartBuilder::on(area)
        .caption(caption, TITLE)
        .margin(10)
        .margin_right(RIGHT)
        .x_label_area_size(BOTTOM)
        .y_label_area_size(LEFT)
        .build_cartesian_2d(x.range, y.range.log_scale())?;
    chart
        .configure_mesh()
        .x_labels(x.labels)
        .x_label_formatter(x.format)
        .x_desc(x.description)
        .y_labels(y.labels)
        .y_label_formatter(y.format)
        .y_desc(y.description)
        .max_light_lines(4)
        .label_style(LABEL)
        .draw()?;
    Ok(chart)
}

/// Returns the colour of the line with this number.
pub const fn colour(number: usize) -> RGBColor {
    COLOURS[number % COLOURS.len()]
}

/// Draws a line with its name in the legend. Markers have a size, or 0 for none.
pub fn draw_line<'a, 'b: 'a>(
    chart: &mut Chart<'a, 'b>,
    number: usize,
    name: &str,
    marker: u32,
    points: impl IntoIterator<Item = (f64, f64)>,
) -> anyhow::Result<()> {
    let colour = colour(number);
    let line = LineSeries::new(points, &colour).point_size(marker);
    chart
        .draw_series(line)?
        .label(name)
        .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour));
    Ok(())
}

/// Draws the names of the lines.
pub fn draw_legend<'a, 'b: 'a>(
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
