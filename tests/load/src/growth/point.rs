//! The figures of a size, in groups of one kind each.

use std::collections::BTreeMap;

/// A figure with its name, in camel case. There is none where every request failed.
pub type Figure = (&'static str, Option<f64>);

/// Figures of one kind.
#[derive(Debug)]
pub struct Group {
    /// The name in the JSON document, in camel case.
    pub name: &'static str,
    /// What the figures are, with their units.
    pub title: &'static str,
    /// In the order printed, the same for each size.
    pub figures: Vec<Figure>,
}

/// What was measured at one size.
#[derive(Debug)]
pub struct Point {
    /// The movements of the ledger.
    pub movements: u32,
    /// In the order printed, the same for each size.
    pub groups: Vec<Group>,
    /// Failed requests by reason.
    pub errors: BTreeMap<String, u64>,
}

impl Point {
    /// Returns a figure.
    pub fn find(&self, group: &str, figure: &str) -> Option<f64> {
        let group = self.groups.iter().find(|it| it.name == group)?;
        let (_, value) = group.figures.iter().find(|(name, _)| *name == figure)?;
        *value
    }
}

/// Returns a figure divided by that of the first point.
pub fn ratio(points: &[Point], point: &Point, group: &str, figure: &str) -> Option<f64> {
    let first = points.first()?.find(group, figure)?;
    let ratio = point.find(group, figure)? / first;
    ratio.is_finite().then_some(ratio)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns the points of two sizes. A page of the second failed.
    pub(in crate::growth) fn points() -> Vec<Point> {
        let point = |movements, cpu, page| Point {
            movements,
            groups: vec![
                Group {
                    name: "randomCpu",
                    title: "random transfers: CPU us",
                    figures: vec![("postgres", Some(cpu)), ("nats", Some(0.0))],
                },
                Group {
                    name: "pagesP50",
                    title: "first pages: p50 ms",
                    figures: vec![("transactions", page)],
                },
            ],
            errors: BTreeMap::new(),
        };
        let mut points = vec![
            point(10_000, 100.0, Some(2.0)),
            point(1_000_000, 150.0, None),
        ];
        points[1].errors.insert("504 timeout".to_owned(), 3);
        points
    }

    #[test]
    fn ratios_are_to_the_first_size() {
        let points = points();
        let ratio = |group, figure| ratio(&points, &points[1], group, figure);
        assert_eq!(ratio("randomCpu", "postgres"), Some(1.5));
        assert_eq!(ratio("randomCpu", "nats"), None, "of nothing");
        assert_eq!(ratio("pagesP50", "transactions"), None, "of a failure");
        assert_eq!(ratio("pagesP50", "other"), None);
    }
}
