//! Clients that read products, and create and pay orders, without a pause at a restart.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use hdrhistogram::Histogram;
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{MissedTickBehavior, interval},
};

use crate::{
    api::{self, Failure},
    fixture::Fixture,
};

/// How many clients there are.
pub const COUNT: usize = 8;
/// The least time between two requests of a client.
const REQUEST_INTERVAL: Duration = Duration::from_millis(40);
/// Of so many requests of a client, one is an order.
const REQUESTS_PER_ORDER: usize = 4;
const MICROS_PER_MILLI: f64 = 1000.0;

/// Running clients.
pub struct Clients {
    tasks: JoinSet<anyhow::Result<Counts>>,
    stop: watch::Sender<bool>,
}

impl Clients {
    /// Starts them.
    pub fn start(fixture: &Fixture) -> Self {
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        for buyer in 0..COUNT {
            tasks.spawn(send(fixture.clone(), buyer, stopped.clone()));
        }
        Self { tasks, stop }
    }

    /// Stops them after their last request, and returns what they got.
    pub async fn stop(self) -> anyhow::Result<Counts> {
        self.stop.send_replace(true);
        let mut all = Counts::new()?;
        for counts in self.tasks.join_all().await {
            all.add(counts?)?;
        }
        Ok(all)
    }
}

/// Sends one request after the other.
async fn send(
    fixture: Fixture,
    buyer: usize,
    stopped: watch::Receiver<bool>,
) -> anyhow::Result<Counts> {
    let mut ticks = interval(REQUEST_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut counts = Counts::new()?;
    for number in 0.. {
        ticks.tick().await;
        if *stopped.borrow() {
            break;
        }
        let started = Instant::now();
        if number % REQUESTS_PER_ORDER == 0 {
            let failure = api::send(fixture.order(buyer)).await.err();
            counts.orders.record(micros_since(started)?)?;
            counts.note("POST /orders", failure);
        } else {
            let failure = api::send(fixture.read()).await.err();
            counts.reads.record(micros_since(started)?)?;
            counts.note("GET /products/:id", failure);
        }
    }
    Ok(counts)
}

fn micros_since(started: Instant) -> anyhow::Result<u64> {
    Ok(u64::try_from(started.elapsed().as_micros())?)
}

/// What clients got.
pub struct Counts {
    reads: Histogram<u64>,
    orders: Histogram<u64>,
    errors: BTreeMap<String, u64>,
}

impl Counts {
    fn new() -> anyhow::Result<Self> {
        Ok(Self {
            reads: Histogram::new(3)?,
            orders: Histogram::new(3)?,
            errors: BTreeMap::new(),
        })
    }

    fn note(&mut self, request: &str, failure: Option<Failure>) {
        if let Some(Failure { reason, .. }) = failure {
            let error = format!("{request}: {reason}");
            *self.errors.entry(error).or_default() += 1;
        }
    }

    fn add(&mut self, other: Self) -> anyhow::Result<()> {
        self.reads.add(other.reads)?;
        self.orders.add(other.orders)?;
        for (error, count) in other.errors {
            *self.errors.entry(error).or_default() += count;
        }
        Ok(())
    }

    pub fn requests(&self) -> u64 {
        self.reads.len() + self.orders.len()
    }

    pub fn errors(&self) -> u64 {
        self.errors.values().sum()
    }

    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52 requests")]
    pub fn print(&self, what: &str) {
        let (requests, errors) = (self.requests(), self.errors());
        let percent = errors as f64 * 100.0 / requests as f64;
        println!("{what}: {requests} requests, {errors} errors ({percent:.3} %)");
        for (error, count) in &self.errors {
            println!("{count:>8} {error}");
        }
        for (name, times) in [("reads", &self.reads), ("orders", &self.orders)] {
            let millis = |micros: u64| micros as f64 / MICROS_PER_MILLI;
            println!(
                "{:>8} {name}, p50 {:.1} ms, p99 {:.1} ms, max {:.1} ms",
                times.len(),
                millis(times.value_at_quantile(0.5)),
                millis(times.value_at_quantile(0.99)),
                millis(times.max()),
            );
        }
    }
}
