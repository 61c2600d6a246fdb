//! The measured points, and the figures that follow from them.

use std::collections::BTreeMap;

use super::{
    benchmark::Kind,
    load::Load,
    tally::{Responses, Tally},
};
use crate::cost::Costs;

/// The name of this program among processes.
pub const CLIENT: &str = "client";

const MICROS_PER_SECOND: f64 = 1e6;

/// What turns of the same requests led to.
#[derive(Debug)]
pub struct Figures {
    /// Outcomes and latencies.
    pub tally: Tally,
    /// How long was measured.
    pub seconds: f64,
    /// CPU seconds by process.
    cpu: BTreeMap<String, f64>,
}

impl Figures {
    /// Returns those of no turn yet.
    pub fn new(kinds: &[Kind]) -> anyhow::Result<Self> {
        Ok(Self {
            tally: Tally::new(kinds)?,
            seconds: 0.0,
            cpu: BTreeMap::new(),
        })
    }

    /// Adds a turn.
    pub fn add(&mut self, tally: Tally, seconds: f64, costs: Costs) -> anyhow::Result<()> {
        self.tally.add(tally)?;
        self.seconds += seconds;
        let mut processes = costs.processes;
        // With its sessions, which are processes of their own.
        processes.insert("postgres".to_owned(), costs.postgres);
        processes.insert(CLIENT.to_owned(), costs.client);
        for (name, seconds) in processes {
            *self.cpu.entry(name).or_default() += seconds;
        }
        Ok(())
    }

    /// Returns the admitted requests a second.
    pub fn rate(&self) -> f64 {
        self.each_second(&self.tally.admitted)
    }

    /// Returns some of the responses, a second.
    pub fn each_second(&self, responses: &Responses) -> f64 {
        responses.received() / self.seconds
    }

    /// Returns the CPU microseconds by process, divided by the requests that were admitted or refused.
    pub fn cpu_micros(&self) -> BTreeMap<&str, f64> {
        let responses = self.tally.admitted.received() + self.tally.refused.received();
        let each = |seconds| seconds * MICROS_PER_SECOND / responses.max(1.0);
        let cpu = self.cpu.iter();
        cpu.map(|(name, seconds)| (name.as_str(), each(seconds)))
            .collect()
    }

    /// Returns their sum without this program.
    pub fn stack_micros(&self) -> f64 {
        let processes = self.cpu_micros().into_iter();
        let of_stack = processes.filter(|(name, _)| *name != CLIENT);
        of_stack.map(|(_, micros)| micros).sum()
    }
}

/// A measured load.
#[derive(Debug)]
pub struct Point {
    /// How the requests were sent.
    pub load: Load,
    /// Of the benchmark.
    pub figures: Figures,
    /// Of reads of a product in turns with it, where they are compared.
    pub reads: Option<Figures>,
}

impl Point {
    /// Returns the rate of the benchmark divided by that of product reads.
    pub fn ratio(&self) -> Option<f64> {
        let reads = self.reads.as_ref()?;
        Some(self.figures.rate() / reads.rate())
    }

    /// Returns its errors by reason. Refusals are errors in a closed loop, which sends no more than the stack
    /// can do.
    pub fn errors(&self) -> BTreeMap<&str, u64> {
        let mut errors = BTreeMap::new();
        for figures in [Some(&self.figures), self.reads.as_ref()]
            .into_iter()
            .flatten()
        {
            let refusals = matches!(self.load, Load::Closed(_)).then_some(&figures.tally.refusals);
            for (reason, count) in refusals
                .into_iter()
                .chain([&figures.tally.errors])
                .flatten()
            {
                *errors.entry(reason.as_str()).or_default() += count;
            }
        }
        errors
    }
}

/// The point at more than the stack can do.
#[derive(Debug)]
pub struct Overload {
    /// How much of the peak was sent.
    pub percent: u32,
    /// The best rate of the closed loops.
    pub peak: f64,
    /// What it led to.
    pub point: Point,
}

/// All points of a run.
#[derive(Debug)]
pub struct Results {
    /// In the order measured.
    pub points: Vec<Point>,
    /// The last one, where it was asked for.
    pub overload: Option<Overload>,
}

impl Results {
    /// Returns all points.
    pub fn all(&self) -> impl Iterator<Item = &Point> {
        let overload = self.overload.iter().map(|overload| &overload.point);
        self.points.iter().chain(overload)
    }

    /// Returns the best rate of the closed loops.
    pub fn peak(&self) -> f64 {
        let points = self.points.iter();
        let closed = points.filter(|point| matches!(point.load, Load::Closed(_)));
        closed.map(|point| point.figures.rate()).fold(0.0, f64::max)
    }

    /// Returns the point with so many requests in flight.
    pub fn in_flight(&self, in_flight: u32) -> Option<&Point> {
        let load = Load::Closed(in_flight);
        self.points.iter().find(|point| point.load == load)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use super::{
        super::tally::{Outcome, Timing},
        *,
    };

    const CHECKOUT: &[Kind] = &[Kind::Checkout];
    const READ: &[Kind] = &[Kind::ProductRead];

    fn timing(millis: u32) -> Timing {
        Timing {
            latency: Some(Duration::from_millis(millis.into())),
            is_in_time: true,
        }
    }

    /// Returns the figures of two seconds in which so many requests were admitted and refused.
    fn figures(kinds: &[Kind], admitted: u32, refused: u32) -> Figures {
        let mut tally = Tally::new(kinds).unwrap();
        for number in 1..=admitted {
            tally.count(kinds[0], timing(number), Outcome::Admitted);
        }
        for _ in 0..refused {
            let outcome = Outcome::Refused("503 unavailable".to_owned());
            tally.count(kinds[0], timing(1), outcome);
        }
        let costs = Costs {
            postgres: 0.3,
            sessions: BTreeMap::new(),
            processes: BTreeMap::from([("gateway".to_owned(), 0.1), ("postgres".to_owned(), 0.01)]),
            client: 0.2,
            children: 0.0,
            wal: 0.0,
        };
        let mut figures = Figures::new(kinds).unwrap();
        figures.add(tally, 2.0, costs).unwrap();
        figures
    }

    /// Returns the results of a closed loop and an overload.
    pub(in crate::rest) fn results() -> Results {
        let closed = Point {
            load: Load::Closed(16),
            figures: figures(CHECKOUT, 100, 0),
            reads: Some(figures(READ, 400, 0)),
        };
        let open = Point {
            load: Load::Open(75),
            figures: figures(CHECKOUT, 90, 60),
            reads: None,
        };
        Results {
            points: vec![closed],
            overload: Some(Overload {
                percent: 150,
                peak: 50.0,
                point: open,
            }),
        }
    }

    fn is_close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-6
    }

    #[test]
    fn rates_are_of_the_time_that_was_measured() {
        let results = results();
        let point = results.in_flight(16).unwrap();
        assert!(is_close(point.figures.rate(), 50.0) && is_close(results.peak(), 50.0));
        assert!(is_close(point.ratio().unwrap(), 0.25));
        let overload = &results.overload.as_ref().unwrap().point;
        let figures = &overload.figures;
        assert!(is_close(figures.each_second(&figures.tally.refused), 30.0));
        assert!(overload.ratio().is_none());
    }

    #[test]
    fn cpu_times_are_of_a_request_and_have_all_of_postgres() {
        let figures = figures(CHECKOUT, 60, 40);
        let cpu = figures.cpu_micros();
        let names: Vec<_> = cpu.keys().copied().collect();
        assert_eq!(names, [CLIENT, "gateway", "postgres"]);
        assert!(is_close(cpu["postgres"], 3_000.0) && is_close(cpu[CLIENT], 2_000.0));
        assert!(is_close(figures.stack_micros(), 4_000.0));
    }

    #[test]
    fn refusals_are_errors_of_closed_loops_only() {
        let mut point = Point {
            load: Load::Open(75),
            figures: figures(CHECKOUT, 1, 2),
            reads: Some(figures(READ, 1, 3)),
        };
        assert!(point.errors().is_empty());
        point.load = Load::Closed(1);
        let expected = [
            ("GET /products/:id: 503 unavailable", 3),
            ("POST /orders: 503 unavailable", 2),
        ];
        assert_eq!(point.errors(), BTreeMap::from(expected));
    }
}
