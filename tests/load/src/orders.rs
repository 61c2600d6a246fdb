//! `bench orders`: the rate of orders that are created and paid in one request, compared with that of a
//! read, `GET /products/:id`, in turns on the same stack.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use anyhow::ensure;
use clap::Args;
use futures::{StreamExt as _, stream};
use hdrhistogram::Histogram;
use reqwest::RequestBuilder;
use scenarios::checks;

use crate::{
    Server,
    api::{self, Api},
    environment::{Environment, Options},
    fixture::Fixture,
    ledger::cost::Snapshot,
    machine,
};

const IN_FLIGHT: usize = 16;
/// Turns of each; one more before them warms up.
const TURNS: u32 = 3;
/// Orders a second for each read a second.
const MIN_RATIO: f64 = 0.25;
const MICROS: f64 = 1e6;

/// Options of `load bench orders`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// How many seconds a turn takes.
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    #[command(flatten)]
    server: Server,
}

/// Prints rates, latencies and CPU time, and fails on an error or if orders are too slow.
pub async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let environment = Environment::start_empty(Options::new("orders", arguments.server))?;
    println!("load average {}", machine::load_average());
    let fixture = Fixture::create(Api::new(&environment), IN_FLIGHT).await?;
    let turn = Duration::from_secs(arguments.seconds);
    let [mut orders, mut reads] = [Figures::new()?, Figures::new()?];
    for number in 0..=TURNS {
        if number == 1 {
            // What was before warmed up.
            (orders, reads) = (Figures::new()?, Figures::new()?);
        }
        let order = |number| fixture.order(number);
        orders.turn(&environment, turn, order).await?;
        reads.turn(&environment, turn, |_| fixture.read()).await?;
    }
    orders.print("POST /orders, created and paid");
    reads.print("GET /products/:id");
    let ratio = orders.rate() / reads.rate();
    println!("{ratio:.2} orders for a read (at least {MIN_RATIO})");
    checks::assert_settled(&environment.stack).await?;
    environment.stop()?;
    let errors = orders.errors.len() + reads.errors.len();
    ensure!(errors == 0, "some requests failed");
    ensure!(ratio >= MIN_RATIO, "orders are too slow: {ratio:.2}");
    Ok(())
}

/// What some turns of one kind of request took.
struct Figures {
    latencies: Histogram<u64>,
    elapsed: Duration,
    errors: BTreeMap<String, u32>,
    /// CPU seconds by process.
    costs: BTreeMap<String, f64>,
}

impl Figures {
    fn new() -> anyhow::Result<Self> {
        Ok(Self {
            latencies: Histogram::new(3)?,
            elapsed: Duration::ZERO,
            errors: BTreeMap::new(),
            costs: BTreeMap::new(),
        })
    }

    /// Sends requests for this long, always the same number at a time.
    async fn turn(
        &mut self,
        environment: &Environment,
        duration: Duration,
        request: impl Fn(usize) -> RequestBuilder,
    ) -> anyhow::Result<()> {
        environment.settle().await?;
        let before = Snapshot::take(environment).await?;
        let started = Instant::now();
        let numbers = (0..).take_while(|_| started.elapsed() < duration);
        let mut responses = stream::iter(numbers)
            .map(|number| timed(request(number)))
            .buffer_unordered(IN_FLIGHT);
        while let Some((micros, error)) = responses.next().await {
            self.latencies.record(micros)?;
            if let Some(error) = error {
                *self.errors.entry(error).or_default() += 1;
            }
        }
        drop(responses);
        self.elapsed += started.elapsed();
        let costs = Snapshot::take(environment).await?.since(&before);
        // With its sessions, which are processes of their own.
        let mut processes = costs.processes;
        processes.insert("postgres".to_owned(), costs.postgres);
        for (name, seconds) in processes {
            *self.costs.entry(name).or_default() += seconds;
        }
        Ok(())
    }

    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52 requests")]
    fn requests(&self) -> f64 {
        self.latencies.len() as f64
    }

    fn rate(&self) -> f64 {
        self.requests() / self.elapsed.as_secs_f64()
    }

    fn print(&self, what: &str) {
        let milliseconds = |quantile| {
            let micros = self.latencies.value_at_quantile(quantile);
            Duration::from_micros(micros).as_secs_f64() * 1_000.0
        };
        println!(
            "{what}: {:.0} a second, p50 {:.1} ms, p99 {:.1} ms, {} errors",
            self.rate(),
            milliseconds(0.5),
            milliseconds(0.99),
            self.errors.values().sum::<u32>(),
        );
        for (error, count) in &self.errors {
            println!("{count:>8} {error}");
        }
        for (process, seconds) in &self.costs {
            let micros = seconds * MICROS / self.requests();
            println!("{micros:>8.0} us of CPU a request: {process}");
        }
    }
}

/// Sends a request, and returns its microseconds and its error, if it is one.
async fn timed(request: RequestBuilder) -> (u64, Option<String>) {
    let started = Instant::now();
    let error = api::send(request).await.err();
    let micros = started.elapsed().as_micros();
    (u64::try_from(micros).unwrap_or(u64::MAX), error)
}
