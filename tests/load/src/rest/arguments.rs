//! The options of the benchmarks through REST.

use std::{path::PathBuf, time::Duration};

use clap::{Args, value_parser};
use serde_json::{Value, json};

use super::load::{Load, MAX_IN_FLIGHT};
use crate::Server;

/// The points in flight where none is named.
const IN_FLIGHT: [u32; 3] = [1, 16, 64];

/// Options of `load bench checkout` and the others.
#[derive(Debug, Clone, Args)]
pub struct Arguments {
    /// Requests in flight, one point each: a response starts the next request. 1, 16 and 64 by default, and
    /// none if there is a rate.
    #[arg(long, value_delimiter = ',', value_parser = value_parser!(u32).range(1..=i64::from(MAX_IN_FLIGHT)))]
    in_flight: Vec<u32>,
    /// Requests a second, one point each, sent at constant intervals whether or not there are responses.
    #[arg(long, value_delimiter = ',', value_parser = value_parser!(u32).range(1..=100_000))]
    rate: Vec<u32>,
    /// Sends this percentage of the best rate of the points in flight, and shows what is refused.
    #[arg(long, value_name = "PERCENT", value_parser = value_parser!(u32).range(1..=1_000))]
    pub overload: Option<u32>,
    /// How long each turn is measured.
    #[arg(long, default_value_t = 10, value_parser = value_parser!(u64).range(1..=3_600))]
    seconds: u64,
    /// How long each turn runs before it is measured.
    #[arg(long, default_value_t = 2, value_parser = value_parser!(u64).range(..=3_600))]
    warm_up: u64,
    /// Turns of each point in flight; where product reads are compared, they have as many in between.
    #[arg(long, default_value_t = 3, value_parser = value_parser!(u32).range(1..=100))]
    pub turns: u32,
    /// Decides the sequence of the requests of `mixed`.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Writes <benchmark>.json and <benchmark>.svg into this directory.
    #[arg(long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub server: Server,
}

impl Arguments {
    /// Returns the points in flight, and the rates after them.
    pub fn loads(&self) -> Vec<Load> {
        let in_flight = self.in_flight().iter().copied().map(Load::Closed);
        let rates = self.rate.iter().copied().map(Load::Open);
        in_flight.chain(rates).collect()
    }

    /// Returns the points in flight. The peak for an overload is one of them.
    fn in_flight(&self) -> &[u32] {
        let are_needed = self.rate.is_empty() || self.overload.is_some();
        if self.in_flight.is_empty() && are_needed {
            &IN_FLIGHT
        } else {
            &self.in_flight
        }
    }

    /// Returns the most requests in flight of a closed loop.
    pub fn most_in_flight(&self) -> u32 {
        self.in_flight().iter().copied().max().unwrap_or_default()
    }

    /// Returns the time of a turn before it is measured, and the time that is measured.
    pub const fn times(&self) -> [Duration; 2] {
        [
            Duration::from_secs(self.warm_up),
            Duration::from_secs(self.seconds),
        ]
    }

    /// Returns them for the JSON document.
    pub fn to_json(&self) -> Value {
        json!({
            "inFlight": self.in_flight(),
            "rates": self.rate,
            "overloadPercent": self.overload,
            "seconds": self.seconds,
            "warmUpSeconds": self.warm_up,
            "turns": self.turns,
            "seed": self.seed,
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Program {
        #[command(flatten)]
        arguments: Arguments,
    }

    pub(in crate::rest) fn parse(arguments: &[&str]) -> Result<Arguments, clap::Error> {
        let arguments = ["load"].iter().chain(arguments);
        Ok(Program::try_parse_from(arguments)?.arguments)
    }

    fn loads(arguments: &[&str]) -> Vec<Load> {
        parse(arguments).unwrap().loads()
    }

    #[test]
    fn points_in_flight_are_the_default() {
        let default = IN_FLIGHT.map(Load::Closed);
        assert_eq!(loads(&[]), default);
        assert_eq!(loads(&["--overload", "150"]), default);
        assert_eq!(parse(&[]).unwrap().most_in_flight(), 64);
    }

    #[test]
    fn rates_replace_the_default() {
        let rates = [Load::Open(100), Load::Open(200)];
        assert_eq!(loads(&["--rate", "100,200"]), rates);
        let both = loads(&["--rate", "100,200", "--in-flight", "8"]);
        assert_eq!(both, [Load::Closed(8), rates[0], rates[1]]);
    }

    #[test]
    fn an_overload_keeps_the_points_that_have_the_peak() {
        let loads = loads(&["--rate", "100", "--overload", "150"]);
        assert_eq!(loads.len(), IN_FLIGHT.len() + 1);
    }

    #[test]
    fn values_without_meaning_are_refused() {
        for arguments in [
            ["--in-flight", "0"],
            ["--in-flight", "1,x"],
            ["--in-flight", "5000"],
            ["--rate", "0"],
            ["--overload", "0"],
            ["--seconds", "0"],
            ["--turns", "0"],
        ] {
            assert!(parse(&arguments).is_err(), "{arguments:?}");
        }
    }
}
