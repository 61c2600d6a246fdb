//! The closed loop: so many requests in flight at any time, the next sent when one is answered.

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
    bed::Bed,
    rpc::{self, Token},
};

/// Connections to each process.
const CONNECTIONS: usize = 4;

/// What one point came to.
#[derive(Debug)]
pub struct Measured {
    /// Latencies of what was confirmed, in microseconds.
    pub latencies: Histogram<u64>,
    /// Refusals by reason.
    pub errors: BTreeMap<String, u64>,
    /// How long it was measured.
    pub seconds: f64,
    /// What it cost.
    pub costs: Costs,
    /// Events published meanwhile, and those that waited for it at the end.
    pub events: Option<(i64, i64)>,
}

impl Measured {
    /// An empty histogram: up to a minute, three digits.
    pub fn latencies() -> anyhow::Result<Histogram<u64>> {
        Ok(Histogram::new_with_bounds(1, 60_000_000, 3)?)
    }
}

/// Where payments go.
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
    pub async fn open(bed: &Bed, workload: Workload, replicas: usize) -> anyhow::Result<Self> {
        let token = rpc::token(bed).await?;
        let channels = rpc::wallets(bed, replicas, CONNECTIONS).await?;
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

/// Runs the loop. What is answered during the warm-up or after the end is not counted.
pub async fn measure(
    bed: &Bed,
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
    let events_before = bed.events().await?;
    let before = Snapshot::take(bed).await?;
    sleep_until(window.end).await;
    let after = Snapshot::take(bed).await?;
    let events = bed.events().await?;
    let published = events.published_since(events_before);
    loops.join_all().await;
    let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(Measured {
        latencies: tally.latencies.clone(),
        errors: std::mem::take(&mut tally.errors),
        seconds: seconds.as_secs_f64(),
        costs: after.since(&before),
        events: Some((published, events.waiting)),
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
        let answer = client.post(rpc::authorized(payment, &route.token)).await;
        let answered = Instant::now();
        if !window.contains(&answered) {
            continue;
        }
        let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
        match answer {
            Ok(_) => {
                let micros = (answered - sent).as_micros().try_into().unwrap_or(u64::MAX);
                tally.latencies.saturating_record(micros);
            }
            Err(status) => {
                let reason = rpc::reason(&status).to_owned();
                *tally.errors.entry(reason).or_default() += 1;
            }
        }
    }
}
