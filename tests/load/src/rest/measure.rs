//! Measures the points of a benchmark.

use std::sync::Arc;

use tokio::time::{Instant, sleep_until};

use super::{
    Arguments,
    benchmark::{Benchmark, Kind, sequence},
    generator::Generator,
    load::{Load, Window},
    point::{Figures, Overload, Point, Results},
    requests::Requests,
};
use crate::{cost::Snapshot, environment::Environment};

/// A benchmark on a stack that has its data.
#[derive(Debug)]
pub struct Meter<'a> {
    environment: &'a Environment,
    arguments: &'a Arguments,
    benchmark: Benchmark,
    requests: Arc<Requests>,
    kinds: Arc<[Kind]>,
}

impl<'a> Meter<'a> {
    /// Creates the data.
    pub async fn prepare(
        environment: &'a Environment,
        arguments: &'a Arguments,
        benchmark: Benchmark,
    ) -> anyhow::Result<Self> {
        let kinds = sequence(benchmark.shares(), arguments.seed);
        let in_flight = usize::try_from(arguments.most_in_flight())?;
        let requests = Requests::prepare(environment, &kinds, in_flight).await?;
        Ok(Self {
            environment,
            arguments,
            benchmark,
            requests: Arc::new(requests),
            kinds: kinds.into(),
        })
    }

    /// Measures all points.
    pub async fn measure(&self) -> anyhow::Result<Results> {
        let mut results = Results {
            points: Vec::new(),
            overload: None,
        };
        for load in self.arguments.loads() {
            results.points.push(self.point(load).await?);
        }
        if let Some(percent) = self.arguments.overload {
            let peak = results.peak();
            let load = Load::Open(share(peak, percent));
            let point = self.point(load).await?;
            results.overload = Some(Overload {
                percent,
                peak,
                point,
            });
        }
        Ok(results)
    }

    /// Measures a point. What else the machine does changes the rates that are compared: they have turns.
    async fn point(&self, load: Load) -> anyhow::Result<Point> {
        eprintln!("{}, {load} …", self.benchmark.name());
        let mut figures = Figures::new(&self.kinds)?;
        let Load::Closed(_) = load else {
            self.turn(load, &self.kinds, &mut figures).await?;
            return Ok(Point {
                load,
                figures,
                reads: None,
            });
        };
        let read: Arc<[Kind]> = Arc::new([Kind::ProductRead]);
        let is_compared = self.benchmark.min_ratio().is_some();
        let mut reads = is_compared.then(|| Figures::new(&read)).transpose()?;
        for _ in 0..self.arguments.turns {
            self.turn(load, &self.kinds, &mut figures).await?;
            if let Some(reads) = &mut reads {
                self.turn(load, &read, reads).await?;
            }
        }
        Ok(Point {
            load,
            figures,
            reads,
        })
    }

    /// Measures a turn, and adds it to the figures.
    async fn turn(
        &self,
        load: Load,
        kinds: &Arc<[Kind]>,
        figures: &mut Figures,
    ) -> anyhow::Result<()> {
        self.environment.settle().await?;
        let [warm_up, measured] = self.arguments.times();
        let window = Window::new(Instant::now(), warm_up, measured);
        let (requests, kinds) = (Arc::clone(&self.requests), Arc::clone(kinds));
        let generator = Generator::new(requests, kinds, window)?;
        // A task, so that it does not wait for the snapshots.
        let tally = tokio::spawn(generator.run(load));
        sleep_until(window.begin).await;
        let before = Snapshot::take(self.environment).await?;
        sleep_until(window.end).await;
        let after = Snapshot::take(self.environment).await?;
        figures.add(tally.await?, measured.as_secs_f64(), after.since(&before))
    }
}

/// Returns a percentage of a rate, in whole requests a second.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate is positive, and far below 2^32"
)]
fn share(rate: f64, percent: u32) -> u32 {
    let share = rate * f64::from(percent) / 100.0;
    share.round().max(1.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overload_is_a_percentage_of_the_peak() {
        assert_eq!(share(600.4, 150), 901);
        assert_eq!(share(0.0, 150), 1, "a rate of nothing has no interval");
    }
}
