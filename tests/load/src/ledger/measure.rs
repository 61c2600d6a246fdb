//! The closed loop: a fixed number of requests in flight; a response starts the next request.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use hdrhistogram::Histogram;
use platform::ids::Ids;
use proto::wallet::v1::ledger_service_client::LedgerServiceClient;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep_until},
};
use tonic::transport::Channel;

use super::{
    cost::{Costs, Snapshot},
    workload::Workload,
};
use crate::{
    environment::Environment,
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

/// Events of one point.
#[derive(Debug, Clone, Copy)]
pub struct Events {
    /// Published during the point.
    pub published: i64,
    /// Not published at its end.
    pub pending: i64,
}

impl Measured {
    /// Returns an empty histogram: up to a minute, three digits.
    pub fn latencies() -> anyhow::Result<Histogram<u64>> {
        Ok(Histogram::new_with_bounds(1, 60_000_000, 3)?)
    }
}

/// Connections to wallet-svc and what its requests need.
#[derive(Debug, Clone)]
pub struct Route {
    workload: Workload,
    channels: Vec<Channel>,
    token: Token,
    default_wallet: String,
    ids: Ids,
}

impl Route {
    /// Opens connections.
    pub async fn open(
        environment: &Environment,
        workload: Workload,
        replicas: usize,
    ) -> anyhow::Result<Self> {
        let token = rpc::ledger_token(environment).await?;
        let channels = rpc::wallets(environment, replicas, CONNECTIONS).await?;
        let default_wallet = rpc::default_wallet(channels[0].clone(), &token).await?;
        Ok(Self {
            workload,
            channels,
            token,
            default_wallet,
            ids: Ids::system(),
        })
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
        latencies: Measured::latencies()?,
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
        let operation = format!("order:{}:pay:1", route.ids.uuid());
        let payment = route.workload.payment(operation, &route.default_wallet);
        let sent = Instant::now();
        let response = client.post(rpc::authorized(payment, &route.token)).await;
        let received = Instant::now();
        if !window.contains(&received) {
            continue;
        }
        let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
        match response {
            Ok(_) => {
                let micros = (received - sent).as_micros().try_into().unwrap_or(u64::MAX);
                tally.latencies.saturating_record(micros);
            }
            Err(status) => {
                let reason = rpc::reason(&status).to_owned();
                *tally.errors.entry(reason).or_default() += 1;
            }
        }
    }
}
