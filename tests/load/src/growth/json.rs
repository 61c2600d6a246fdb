//! The figures as a JSON document.

use serde_json::{Map, Value, json};

use super::{
    Arguments,
    point::{Group, Point, ratio},
};
use crate::{machine::Machine, output::rounded};

/// Returns the document.
pub fn document(arguments: &Arguments, machine: &Machine, points: &[Point]) -> Value {
    let titles = points.first().map(|first| {
        let titles = first.groups.iter();
        titles
            .map(|group| (group.name.to_owned(), json!(group.title)))
            .collect::<Map<_, _>>()
    });
    json!({
        "benchmark": super::NAME,
        "isDebugBuild": cfg!(debug_assertions),
        "machine": machine.to_json(),
        "settings": arguments.to_json(),
        "titles": titles,
        "points": points.iter().map(|it| point(points, it)).collect::<Vec<_>>(),
    })
}

fn point(points: &[Point], point: &Point) -> Value {
    let by_name = |value: &dyn Fn(&Group, &str) -> Option<f64>| {
        let groups = point.groups.iter().map(|group| {
            let figures = group.figures.iter();
            let figures = figures.map(|(name, _)| {
                let value = value(group, name).map(rounded);
                ((*name).to_owned(), json!(value))
            });
            let figures: Map<_, _> = figures.collect();
            (group.name.to_owned(), Value::from(figures))
        });
        groups.collect::<Map<_, _>>()
    };
    json!({
        "movements": point.movements,
        "figures": by_name(&|group, name| point.find(group.name, name)),
        "ratiosToFirst": by_name(&|group, name| ratio(points, point, group.name, name)),
        "errors": point.errors,
    })
}

#[cfg(test)]
mod tests {
    use super::{
        super::{point::tests::points, tests::parse},
        *,
    };

    #[test]
    fn a_document_has_the_settings_and_the_figures_with_their_ratios() {
        let arguments = parse(&["--movements", "10000,1000000"]).unwrap();
        let document = document(&arguments, &Machine::read().unwrap(), &points());
        assert_eq!(
            document["settings"],
            json!({
                "movements": [10_000, 1_000_000], "wallets": 2_000, "inFlight": 64, "seconds": 10,
                "warmUpSeconds": 3,
            })
        );
        assert_eq!(document["titles"]["randomCpu"], "random transfers: CPU us");
        assert_eq!(
            document["points"][1],
            json!({
                "movements": 1_000_000,
                "figures": {
                    "randomCpu": { "postgres": 150.0, "nats": 0.0 },
                    "pagesP50": { "transactions": null },
                },
                "ratiosToFirst": {
                    "randomCpu": { "postgres": 1.5, "nats": null },
                    "pagesP50": { "transactions": null },
                },
                "errors": { "504 timeout": 3 },
            })
        );
    }
}
