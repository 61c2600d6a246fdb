//! Prints the figures: a table of each group, with a row a size.

use super::point::{Point, ratio};

/// Prints everything, each figure with its ratio to the first size.
pub fn print(points: &[Point]) {
    let groups = points.first().map(|first| first.groups.as_slice());
    for group in groups.unwrap_or_default() {
        println!("\n{}; x: ratio to the first size", group.title);
        print!("{:>12}", "movements");
        for (figure, _) in &group.figures {
            print!("{figure:>width$}{:>7}", "x", width = width(figure));
        }
        println!();
        for point in points {
            print!("{:>12}", point.movements);
            for (figure, _) in &group.figures {
                print!("{}", cell(points, point, group.name, figure));
            }
            println!();
        }
    }
    print_errors(points);
}

fn cell(points: &[Point], point: &Point, group: &str, figure: &str) -> String {
    let decimals = |value: Option<f64>| value.map_or("-".to_owned(), |it| format!("{it:.2}"));
    let value = decimals(point.find(group, figure));
    let ratio = decimals(ratio(points, point, group, figure));
    format!("{value:>width$}{ratio:>7}", width = width(figure))
}

/// Returns the width of a column.
fn width(figure: &str) -> usize {
    figure.len().max(9) + 2
}

fn print_errors(points: &[Point]) {
    println!();
    for point in points {
        let errors = point.errors.values().sum::<u64>();
        println!("{} movements: {errors} errors", point.movements);
        for (reason, count) in &point.errors {
            println!("{count:>8} {reason}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::point::tests::points, *};

    #[test]
    fn a_cell_has_the_figure_and_its_ratio() {
        let points = points();
        let cell = |group, figure| {
            let cell = cell(&points, &points[1], group, figure);
            cell.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(cell("randomCpu", "postgres"), ["150.00", "1.50"]);
        assert_eq!(cell("pagesP50", "transactions"), ["-", "-"]);
    }
}
