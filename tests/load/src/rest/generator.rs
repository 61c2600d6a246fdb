//! The load generator: sends the requests of a turn, and counts their outcomes.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use reqwest::RequestBuilder;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep_until},
};

use super::{
    benchmark::Kind,
    load::{Load, MAX_IN_FLIGHT, Window},
    requests::Requests,
    tally::{Outcome, Tally, Timing},
};
use crate::api;

/// The load generator of a turn.
#[derive(Debug)]
pub struct Generator {
    requests: Arc<Requests>,
    kinds: Arc<[Kind]>,
    window: Window,
    next: AtomicUsize,
    tally: Mutex<Tally>,
}

impl Generator {
    /// Creates one that sends requests of these kinds, over and over.
    pub fn new(
        requests: Arc<Requests>,
        kinds: Arc<[Kind]>,
        window: Window,
    ) -> anyhow::Result<Self> {
        let tally = Mutex::new(Tally::new(&kinds)?);
        Ok(Self {
            requests,
            kinds,
            window,
            next: AtomicUsize::new(0),
            tally,
        })
    }

    /// Sends the requests of a turn, and returns after their last response.
    pub async fn run(self, load: Load) -> Tally {
        let generator = Arc::new(self);
        match load {
            Load::Closed(in_flight) => generator.closed_loop(in_flight).await,
            Load::Open(rate) => generator.open_loop(rate).await,
        }
        // Every task has ended, so this is the last reference.
        let generator = Arc::into_inner(generator).expect("no task is left");
        let tally = generator.tally.into_inner();
        tally.unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps so many requests in flight until the end.
    async fn closed_loop(self: &Arc<Self>, in_flight: u32) {
        let mut loops = JoinSet::new();
        for _ in 0..in_flight {
            let generator = Arc::clone(self);
            loops.spawn(async move {
                let mut now = Instant::now();
                while now < generator.window.end {
                    let (kind, request) = generator.next();
                    generator.send(kind, request, now).await;
                    now = Instant::now();
                }
            });
        }
        loops.join_all().await;
    }

    /// Sends each request at its time. One that would exceed the bound of requests in flight fails.
    async fn open_loop(self: &Arc<Self>, rate: u32) {
        let mut responses = JoinSet::new();
        for due in self.window.schedule(rate) {
            sleep_until(due).await;
            while responses.try_join_next().is_some() {}
            let (kind, request) = self.next();
            if responses.len() < MAX_IN_FLIGHT as usize {
                let generator = Arc::clone(self);
                responses.spawn(async move { generator.send(kind, request, due).await });
            } else {
                let reason = format!("not sent: {MAX_IN_FLIGHT} are in flight");
                self.tally()
                    .count(kind, Timing::default(), Outcome::Failed(reason));
            }
        }
        responses.join_all().await;
    }

    fn next(&self) -> (Kind, RequestBuilder) {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let kind = self.kinds[number % self.kinds.len()];
        (kind, self.requests.begin(kind, number))
    }

    /// Sends a request. Its latency counts from when it was due: a request that is late because the ones
    /// before it are slow has waited.
    async fn send(&self, kind: Kind, request: RequestBuilder, due: Instant) {
        let outcome = Outcome::from(api::send(request).await);
        let now = Instant::now();
        let timing = Timing {
            latency: self.window.contains(due).then(|| now - due),
            is_in_time: self.window.contains(now),
        };
        self.tally().count(kind, timing, outcome);
    }

    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
