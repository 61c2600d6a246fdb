//! Counts of requests by their outcome.

use std::{collections::BTreeMap, time::Duration};

use hdrhistogram::Histogram;
use reqwest::StatusCode;

use super::benchmark::Kind;
use crate::{api::Failure, latency};

/// What a request led to.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A status of success.
    Admitted,
    /// A status by which a server limits its load, with the problem.
    Refused(String),
    /// Anything else, with the reason.
    Failed(String),
}

impl<T> From<Result<T, Failure>> for Outcome {
    fn from(result: Result<T, Failure>) -> Self {
        const LIMITS: [Option<StatusCode>; 2] = [
            Some(StatusCode::TOO_MANY_REQUESTS),
            Some(StatusCode::SERVICE_UNAVAILABLE),
        ];
        match result {
            Ok(_) => Self::Admitted,
            Err(failure) if LIMITS.contains(&failure.status) => Self::Refused(failure.reason),
            Err(failure) => Self::Failed(failure.reason),
        }
    }
}

/// When a request was to be sent, and when its response came.
#[derive(Debug, Clone, Copy, Default)]
pub struct Timing {
    /// The time in between, if it was to be sent within the window.
    pub latency: Option<Duration>,
    /// Whether the response came within the window.
    pub is_in_time: bool,
}

/// Responses of one outcome.
#[derive(Debug)]
pub struct Responses {
    /// Of the requests that were to be sent within the window.
    pub latencies: Histogram<u64>,
    /// How many came within the window. Where requests wait longer and longer, they are fewer than those sent.
    received: u64,
}

impl Responses {
    fn new() -> anyhow::Result<Self> {
        Ok(Self {
            latencies: latency::histogram()?,
            received: 0,
        })
    }

    fn count(&mut self, timing: Timing) {
        if let Some(latency) = timing.latency {
            latency::record(&mut self.latencies, latency);
        }
        self.received += u64::from(timing.is_in_time);
    }

    fn add(&mut self, other: Self) -> anyhow::Result<()> {
        self.received += other.received;
        Ok(self.latencies.add(other.latencies)?)
    }

    /// Returns how many came within the window.
    pub fn received(&self) -> f64 {
        latency::count(self.received)
    }

    /// Returns a quantile of the latencies in milliseconds, if there are any.
    pub fn millis(&self, quantile: f64) -> Option<f64> {
        let has_latencies = !self.latencies.is_empty();
        has_latencies.then(|| latency::millis(&self.latencies, quantile))
    }
}

/// Responses by outcome, and reasons.
#[derive(Debug)]
pub struct Tally {
    /// Of admitted requests.
    pub admitted: Responses,
    /// Of admitted requests, by kind.
    pub by_kind: BTreeMap<Kind, Responses>,
    /// Of refused requests.
    pub refused: Responses,
    /// Refused requests by reason, those outside of the window too.
    pub refusals: BTreeMap<String, u64>,
    /// Failed requests by reason, those outside of the window too.
    pub errors: BTreeMap<String, u64>,
}

impl Tally {
    /// Returns an empty one of these kinds.
    pub fn new(kinds: &[Kind]) -> anyhow::Result<Self> {
        let mut by_kind = BTreeMap::new();
        for kind in kinds {
            by_kind.insert(*kind, Responses::new()?);
        }
        Ok(Self {
            admitted: Responses::new()?,
            by_kind,
            refused: Responses::new()?,
            refusals: BTreeMap::new(),
            errors: BTreeMap::new(),
        })
    }

    /// Counts a request.
    pub fn count(&mut self, kind: Kind, timing: Timing, outcome: Outcome) {
        let label = |reason| format!("{}: {reason}", kind.route());
        match outcome {
            Outcome::Admitted => {
                self.admitted.count(timing);
                if let Some(of_kind) = self.by_kind.get_mut(&kind) {
                    of_kind.count(timing);
                }
            }
            Outcome::Refused(reason) => {
                self.refused.count(timing);
                *self.refusals.entry(label(reason)).or_default() += 1;
            }
            Outcome::Failed(reason) => {
                *self.errors.entry(label(reason)).or_default() += 1;
            }
        }
    }

    /// Adds the counts of another turn.
    pub fn add(&mut self, other: Self) -> anyhow::Result<()> {
        self.admitted.add(other.admitted)?;
        self.refused.add(other.refused)?;
        for (kind, latencies) in other.by_kind {
            match self.by_kind.get_mut(&kind) {
                Some(all) => all.add(latencies)?,
                None => drop(self.by_kind.insert(kind, latencies)),
            }
        }
        let refusals = (&mut self.refusals, other.refusals);
        for (all, reasons) in [refusals, (&mut self.errors, other.errors)] {
            for (reason, count) in reasons {
                *all.entry(reason).or_default() += count;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLI: Timing = Timing {
        latency: Some(Duration::from_millis(1)),
        is_in_time: true,
    };

    fn outcome(status: Option<u16>) -> Outcome {
        let status = status.map(|status| StatusCode::from_u16(status).unwrap());
        let reason = "why".to_owned();
        Outcome::from(Err::<(), _>(Failure { status, reason }))
    }

    #[test]
    fn only_429_and_503_are_refusals() {
        assert_eq!(Outcome::from(Ok("{}")), Outcome::Admitted);
        for status in [429, 503] {
            assert_eq!(outcome(Some(status)), Outcome::Refused("why".to_owned()));
        }
        for status in [Some(400), Some(404), Some(500), Some(504), None] {
            assert_eq!(outcome(status), Outcome::Failed("why".to_owned()));
        }
    }

    #[test]
    fn each_request_counts_once_in_its_place() {
        let mut tally = Tally::new(&[Kind::Checkout, Kind::OrderRead]).unwrap();
        tally.count(Kind::Checkout, MILLI, Outcome::Admitted);
        tally.count(Kind::OrderRead, MILLI, Outcome::Admitted);
        tally.count(Kind::Checkout, MILLI, outcome(Some(503)));
        tally.count(Kind::Checkout, MILLI, outcome(None));
        assert_eq!((tally.admitted.received, tally.refused.received), (2, 1));
        assert_eq!(tally.by_kind[&Kind::Checkout].received, 1);
        let one = BTreeMap::from([("POST /orders: why".to_owned(), 1)]);
        assert_eq!((&tally.refusals, &tally.errors), (&one, &one));
    }

    #[test]
    fn outside_of_the_window_only_failures_count() {
        let mut tally = Tally::new(&[Kind::Checkout]).unwrap();
        for outcome in [Outcome::Admitted, outcome(Some(429)), outcome(Some(500))] {
            tally.count(Kind::Checkout, Timing::default(), outcome);
        }
        assert!(tally.admitted.latencies.is_empty() && tally.refused.latencies.is_empty());
        assert_eq!((tally.admitted.received, tally.refused.received), (0, 0));
        assert_eq!((tally.refusals.len(), tally.errors.len()), (1, 1));
    }

    #[test]
    fn a_late_response_has_a_latency_and_adds_nothing_to_the_rate() {
        let mut tally = Tally::new(&[Kind::Checkout]).unwrap();
        let late = Timing {
            is_in_time: false,
            ..MILLI
        };
        tally.count(Kind::Checkout, late, Outcome::Admitted);
        assert_eq!(
            (tally.admitted.latencies.len(), tally.admitted.received),
            (1, 0)
        );
    }

    #[test]
    fn turns_add_up() {
        let turn = || {
            let mut tally = Tally::new(&[Kind::Checkout]).unwrap();
            tally.count(Kind::Checkout, MILLI, Outcome::Admitted);
            tally.count(Kind::Checkout, MILLI, outcome(None));
            tally
        };
        let mut sum = turn();
        sum.add(turn()).unwrap();
        assert_eq!(sum.admitted.received, 2);
        assert_eq!(sum.by_kind[&Kind::Checkout].latencies.len(), 2);
        assert_eq!(sum.errors["POST /orders: why"], 2);
    }
}
