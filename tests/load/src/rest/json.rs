//! The results as a JSON document.

use serde_json::{Map, Value, json};

use super::{
    Arguments, TARGET_IN_FLIGHT,
    benchmark::Benchmark,
    load::Load,
    point::{Figures, Point, Results},
    tally::Responses,
};
use crate::{machine::Machine, output::rounded};

/// Returns the document.
pub fn document(
    benchmark: Benchmark,
    arguments: &Arguments,
    machine: &Machine,
    results: &Results,
) -> Value {
    let shares = benchmark.shares().iter();
    let shares = shares.map(|(kind, percent)| (kind.route().to_owned(), json!(percent)));
    let overload = results.overload.as_ref().map(|overload| {
        json!({
            "percent": overload.percent,
            "peakPerSecond": rounded(overload.peak),
            "point": point(&overload.point),
        })
    });
    json!({
        "benchmark": benchmark.name(),
        "percentOfRequests": shares.collect::<Map<_, _>>(),
        "isDebugBuild": cfg!(debug_assertions),
        "machine": machine.to_json(),
        "settings": arguments.to_json(),
        "units": { "latencies": "ms", "cpu": "us a request" },
        "target": { "inFlight": TARGET_IN_FLIGHT, "ratioToReads": benchmark.min_ratio() },
        "points": results.points.iter().map(point).collect::<Vec<_>>(),
        "overload": overload,
    })
}

fn point(point: &Point) -> Value {
    let (in_flight, sent) = match point.load {
        Load::Closed(in_flight) => (Some(in_flight), None),
        Load::Open(rate) => (None, Some(rate)),
    };
    json!({
        "inFlight": in_flight,
        "sentPerSecond": sent,
        "benchmark": figures(&point.figures),
        "reads": point.reads.as_ref().map(figures),
        "ratioToReads": point.ratio().map(rounded),
        "errors": point.errors(),
    })
}

fn figures(figures: &Figures) -> Value {
    let tally = &figures.tally;
    let cpu = figures.cpu_micros().into_iter();
    let cpu = cpu.map(|(name, micros)| (name.to_owned(), rounded(micros).into()));
    let by_kind = tally
        .by_kind
        .iter()
        .map(|(kind, of_kind)| (kind.name().to_owned(), responses(figures, of_kind)));
    json!({
        "seconds": figures.seconds,
        "admitted": responses(figures, &tally.admitted),
        "byKind": by_kind.collect::<Map<_, _>>(),
        "refused": responses(figures, &tally.refused),
        "refusals": tally.refusals,
        "cpu": cpu.collect::<Map<_, _>>(),
        "cpuWithoutClient": rounded(figures.stack_micros()),
    })
}

fn responses(figures: &Figures, responses: &Responses) -> Value {
    json!({
        "requests": responses.latencies.len(),
        "perSecond": rounded(figures.each_second(responses)),
        "p50": responses.millis(0.5),
        "p90": responses.millis(0.9),
        "p99": responses.millis(0.99),
        "p99.9": responses.millis(0.999),
        "max": responses.millis(1.0),
    })
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, num::NonZeroUsize};

    use super::{
        super::{arguments::tests::parse, point::tests::results},
        *,
    };

    fn keys(value: &Value) -> BTreeSet<&str> {
        let object = value.as_object().unwrap();
        object.keys().map(String::as_str).collect()
    }

    fn checkout() -> Value {
        let machine = Machine {
            cores: NonZeroUsize::new(2).unwrap(),
            load_average: "0.25".to_owned(),
        };
        let arguments = parse(&["--in-flight", "16", "--overload", "150"]).unwrap();
        document(Benchmark::Checkout, &arguments, &machine, &results())
    }

    #[test]
    fn a_document_has_the_settings_and_the_machine() {
        let document = checkout();
        assert_eq!(document["benchmark"], "checkout");
        assert_eq!(
            document["percentOfRequests"],
            json!({ "POST /orders": 100 })
        );
        assert_eq!(
            document["machine"],
            json!({ "cores": 2, "loadAverage": 0.25 })
        );
        assert_eq!(
            document["settings"],
            json!({
                "inFlight": [16], "rates": [], "overloadPercent": 150, "seconds": 10,
                "warmUpSeconds": 2, "turns": 3, "seed": 1,
            })
        );
        assert_eq!(
            document["target"],
            json!({ "inFlight": 16, "ratioToReads": 0.25 })
        );
    }

    #[test]
    fn a_point_in_flight_is_compared_with_reads() {
        let document = checkout();
        let point = &document["points"][0];
        let expected = [
            "benchmark",
            "errors",
            "inFlight",
            "ratioToReads",
            "reads",
            "sentPerSecond",
        ];
        assert_eq!(keys(point), BTreeSet::from(expected));
        assert_eq!(
            (&point["inFlight"], &point["sentPerSecond"]),
            (&json!(16), &Value::Null)
        );
        assert_eq!(point["ratioToReads"], 0.25);
        let admitted = &point["benchmark"]["admitted"];
        let expected = ["max", "p50", "p90", "p99", "p99.9", "perSecond", "requests"];
        assert_eq!(keys(admitted), BTreeSet::from(expected));
        assert_eq!(admitted["requests"], 100);
        assert_eq!(admitted["perSecond"], 50.0);
        assert_eq!(point["benchmark"]["byKind"]["checkout"], *admitted);
        assert_eq!(point["benchmark"]["cpu"]["gateway"], 1_000.0);
    }

    #[test]
    fn an_overload_has_what_was_refused() {
        let document = checkout();
        let overload = &document["overload"];
        assert_eq!(
            (&overload["percent"], &overload["peakPerSecond"]),
            (&json!(150), &json!(50.0))
        );
        let point = &overload["point"];
        assert_eq!(
            (&point["sentPerSecond"], &point["reads"]),
            (&json!(75), &Value::Null)
        );
        assert_eq!(point["benchmark"]["refused"]["perSecond"], 30.0);
        assert_eq!(
            point["benchmark"]["refusals"]["POST /orders: 503 unavailable"],
            60
        );
    }
}
