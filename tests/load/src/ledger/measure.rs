//! The closed loop: a fixed number of requests in flight; a response starts the next request.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use hdrhistogram::Histogram;
use platform::{error::Failure, ids::Ids};
use proto::wallet::v1::{
    PostManyRequest, PostRequest, ledger_service_client::LedgerServiceClient,
    post_result::Result as Outcome,
};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep_until},
};
use tonic::transport::Channel;

use super::workload::{Wallets, Workload};
use crate::{
    cost::{Costs, Snapshot},
    environment::Environment,
    latency,
    rpc::{self, Token},
};

/// Connections to each process.
const CONNECTIONS: usize = 4;

/// The result of one point.
#[derive(Debug)]
pub struct Measured {
    /// Latencies of confirmed payments, in microseconds.
    pub latencies: Histogram<u64>,
    /// Failures by reason.
    pub errors: BTreeMap<String, u64>,
    /// How long it was measured.
    pub seconds: f64,
    /// CPU time.
    pub costs: Costs,
    /// Events of wallet-svc; baselines have none.
    pub events: Option<Events>,
}

impl Measured {
    /// Returns the confirmed payments a second.
    pub fn rate(&self) -> f64 {
        self.payments() / self.seconds
    }

    /// Returns a quantile of the latencies in milliseconds.
    pub fn millis(&self, quantile: f64) -> f64 {
        latency::millis(&self.latencies, quantile)
    }

    /// Divides an amount of the whole point by its payments.
    pub fn each(&self, amount: f64) -> f64 {
        amount / self.payments().max(1.0)
    }

    fn payments(&self) -> f64 {
        latency::count(self.latencies.len())
    }
}

/// Events of one point.
#[derive(Debug, Clone, Copy)]
pub struct Events {
    /// Published during the point.
    pub published: i64,
    /// Not published at its end.
    pub pending: i64,
}

/// Connections to wallet-svc and what its requests need.
#[derive(Debug, Clone)]
pub struct Route {
    workload: Workload,
    wallets: Wallets,
    channels: Vec<Channel>,
    token: Token,
    default_wallet: String,
    ids: Ids,
    /// Payments of a request.
    batch: u32,
}

impl Route {
    /// Opens connections.
    pub async fn open(
        environment: &Environment,
        workload: Workload,
        wallets: Wallets,
        replicas: usize,
        batch: u32,
    ) -> anyhow::Result<Self> {
        let token = rpc::ledger_token(environment).await?;
        let channels = rpc::wallets(environment, replicas, CONNECTIONS).await?;
        let default_wallet = rpc::default_wallet(channels[0].clone(), &token).await?;
        Ok(Self {
            workload,
            wallets,
            channels,
            token,
            default_wallet,
            ids: Ids::system(),
            batch,
        })
    }

    fn payment(&self) -> PostRequest {
        let operation = format!("order:{}:pay:1", self.ids.uuid());
        self.workload
            .payment(self.wallets, operation, &self.default_wallet)
    }

    /// Sends a request, and returns the failures of its payments, each with how many.
    async fn send(&self, client: &mut LedgerServiceClient<Channel>) -> BTreeMap<String, u32> {
        if self.batch == 1 {
            let payment = rpc::authorized(self.payment(), &self.token);
            let failed = client.post(payment).await.err();
            return failed
                .map(|status| (rpc::reason(&status).to_owned(), 1))
                .into_iter()
                .collect();
        }
        let operations = (0..self.batch).map(|_| self.payment()).collect();
        let request = rpc::authorized(PostManyRequest { operations }, &self.token);
        let results = match client.post_many(request).await {
            Ok(response) => response.into_inner().results,
            Err(status) => return BTreeMap::from([(rpc::reason(&status).to_owned(), self.batch)]),
        };
        let mut failures = BTreeMap::new();
        for result in results {
            if let Some(Outcome::Error(error)) = result.result {
                let code = Failure::from_item_status(&error).code;
                *failures.entry(code.as_str().to_owned()).or_default() += 1;
            }
        }
        failures
    }
}

struct Tally {
    latencies: Histogram<u64>,
    errors: BTreeMap<String, u64>,
}

/// Runs the loop. Responses during the warm-up and after the end are not counted.
pub async fn measure(
    environment: &Environment,
    route: Route,
    in_flight: u32,
    warm_up: Duration,
    seconds: Duration,
) -> anyhow::Result<Measured> {
    let begin = Instant::now() + warm_up;
    let window = begin..begin + seconds;
    let tally = Arc::new(Mutex::new(Tally {
        latencies: latency::histogram()?,
        errors: BTreeMap::new(),
    }));
    let mut loops = JoinSet::new();
    for number in 0..in_flight as usize {
        let channel = route.channels[number % route.channels.len()].clone();
        loops.spawn(pay(
            route.clone(),
            channel,
            window.clone(),
            Arc::clone(&tally),
        ));
    }
    sleep_until(window.start).await;
    let before_events = environment.events().await?;
    let before = Snapshot::take(environment).await?;
    sleep_until(window.end).await;
    let after = Snapshot::take(environment).await?;
    let after_events = environment.events().await?;
    loops.join_all().await;
    let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(Measured {
        latencies: tally.latencies.clone(),
        errors: std::mem::take(&mut tally.errors),
        seconds: seconds.as_secs_f64(),
        costs: after.since(&before),
        events: Some(Events {
            published: after_events.published_since(before_events),
            pending: after_events.pending,
        }),
    })
}

async fn pay(
    route: Route,
    channel: Channel,
    window: std::ops::Range<Instant>,
    tally: Arc<Mutex<Tally>>,
) {
    let mut client = LedgerServiceClient::new(channel);
    while Instant::now() < window.end {
        let sent = Instant::now();
        let failures = route.send(&mut client).await;
        let received = Instant::now();
        if !window.contains(&received) {
            continue;
        }
        let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
        let failed: u32 = failures.values().sum();
        let posted = route.batch.saturating_sub(failed);
        latency::record_n(&mut tally.latencies, received - sent, posted);
        for (reason, count) in failures {
            *tally.errors.entry(reason).or_default() += u64::from(count);
        }
    }
}
