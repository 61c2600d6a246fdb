//! Races: two actions on one order at the same time, each through a gateway, orders-svc and wallet-svc
//! of its own. The order ends in a state that one of them after the other would have led to.

mod pairs;

use std::{
    collections::BTreeMap,
    fmt,
    time::{Duration, Instant},
};

use anyhow::ensure;
use futures::{StreamExt as _, stream};
use reqwest::Method;
use serde_json::json;
use stack::{Replicas, Service, Stack};

use self::pairs::{Act, PAIRS, Pair};
use crate::{
    checks,
    client::{Client, Reply, text, until},
    shop::{Buyer, create_buyer, create_order, create_product},
};

/// Within what time an order is in its end state.
const SETTLEMENT_TIME: Duration = Duration::from_secs(30);
/// Rounds at the same time.
const IN_FLIGHT: usize = 4;
/// What each buyer has, in usd: enough for every round.
const FUNDS: u32 = 1_000_000;

/// Returns how many processes [`run`] needs of each service.
pub fn replicas() -> Replicas {
    Replicas::from([(Service::Orders, 2), (Service::Wallet, 2)])
}

/// How the rounds of a pair ended.
#[derive(Debug)]
pub struct Outcome {
    /// The two actions.
    pub pair: String,
    /// Number of rounds by what the two actions were answered, and the state of the order.
    pub ends: BTreeMap<String, u32>,
    /// The longest time until an order was in its end state.
    pub slowest: Duration,
    /// Rounds that ended as they must not.
    pub violations: Vec<String>,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rounds: u32 = self.ends.values().sum();
        let (pair, slowest) = (&self.pair, self.slowest.as_secs_f64());
        let violations = self.violations.len();
        writeln!(
            f,
            "{pair:<20} {rounds:>5} rounds, {violations} violations, settled within {slowest:.2} s"
        )?;
        for (end, count) in &self.ends {
            writeln!(f, "{count:>26} {end}")?;
        }
        for violation in &self.violations {
            writeln!(f, "    {violation}")?;
        }
        Ok(())
    }
}

/// Runs this many rounds of each pair on a stack with [`replicas`], and fails if a rule about orders is
/// broken afterwards. Whether a round was a violation is in the outcomes.
pub async fn run(stack: &mut Stack, rounds: u32) -> anyhow::Result<Vec<Outcome>> {
    let race = Race::prepare(stack).await?;
    let mut outcomes = Vec::new();
    for pair in PAIRS {
        outcomes.push(race.rounds(pair, rounds).await?);
    }
    checks::assert_settled(stack).await?;
    Ok(outcomes)
}

/// Has a second gateway call the second process of orders-svc, and that the second one of wallet-svc.
fn second_gateway(stack: &mut Stack) -> anyhow::Result<String> {
    let gateway = stack.add_gateway()?;
    for (name, variable, peer) in [
        ("orders-svc-2", "WALLET_GRPC_URL", "wallet-svc-2"),
        (gateway.as_str(), "ORDERS_GRPC_URL", "orders-svc-2"),
    ] {
        let port = stack.wiring().instance(peer)?.port;
        let url = format!("http://127.0.0.1:{port}");
        stack.stop(name)?;
        stack.start_again(name, &[(variable.to_owned(), url)])?;
    }
    Ok(gateway)
}

struct Race {
    clients: [Client; 2],
    buyers: Vec<Buyer>,
    product: String,
}

/// What a round led to.
struct Round {
    end: String,
    time: Duration,
    violation: Option<String>,
}

impl Race {
    async fn prepare(stack: &mut Stack) -> anyhow::Result<Self> {
        let second = second_gateway(stack)?;
        let client = Client::new(stack);
        let mut buyers = Vec::new();
        for number in 0..IN_FLIGHT {
            buyers.push(create_buyer(&client, &format!("racer{number}"), FUNDS).await?);
        }
        let product = create_product(&client).await?;
        let second = client.of(stack.wiring().instance(&second)?);
        Ok(Self {
            clients: [client, second],
            buyers,
            product,
        })
    }

    async fn rounds(&self, pair: &Pair, rounds: u32) -> anyhow::Result<Outcome> {
        let numbers = stream::iter(0..rounds as usize);
        let mut results = numbers
            .map(|number| self.round(pair, number))
            .buffer_unordered(IN_FLIGHT);
        let mut outcome = Outcome {
            pair: pair.name(),
            ends: BTreeMap::new(),
            slowest: Duration::ZERO,
            violations: Vec::new(),
        };
        while let Some(round) = results.next().await {
            let round = round?;
            *outcome.ends.entry(round.end).or_default() += 1;
            outcome.slowest = outcome.slowest.max(round.time);
            outcome.violations.extend(round.violation);
        }
        Ok(outcome)
    }

    /// Creates an order and sends both actions. The one that is sent first changes by turns.
    async fn round(&self, pair: &Pair, number: usize) -> anyhow::Result<Round> {
        let [first, second] = &self.clients;
        let buyer = &self.buyers[number % self.buyers.len()];
        let order = create_order(first, buyer, &self.product, pair.starts_paid).await?;
        let started = Instant::now();
        let (one, other) = if number.is_multiple_of(2) {
            tokio::join!(
                act(first, &order, pair.one),
                act(second, &order, pair.other)
            )
        } else {
            let (other, one) = tokio::join!(
                act(first, &order, pair.other),
                act(second, &order, pair.one)
            );
            (one, other)
        };
        let answers = [one?, other?];
        let allowed = pair.allowed_ends(&answers);
        let settled = until(started + SETTLEMENT_TIME, async || {
            let state = state(first, &order).await?;
            let is_end = allowed.iter().any(|end| *end == state);
            Ok((!is_end).then(|| format!("{order} is {state}")))
        });
        let settled = settled.await;
        let time = started.elapsed();
        let end = format!(
            "{}, {}: {}",
            answers[0].outcome(),
            answers[1].outcome(),
            state(first, &order).await?
        );
        let violation = settled.err().map(|error| format!("{error}: {answers:?}"));
        Ok(Round {
            end,
            time,
            violation,
        })
    }
}

async fn act(client: &Client, order: &str, act: Act) -> anyhow::Result<Reply> {
    let (action, body) = match act {
        Act::Pay => ("pay", json!({})),
        Act::Cancel => ("cancel", json!({})),
        Act::Fulfill => ("fulfill", json!({})),
        Act::Refund => ("refund", json!({ "amount": "6" })),
    };
    let path = format!("{order}/{action}");
    client.send(Method::POST, &path, Some(&body), None).await
}

/// Returns both statuses of an order.
async fn state(client: &Client, order: &str) -> anyhow::Result<String> {
    let order = client.get(order).await?;
    let (status, payment) = (text(&order, "orderStatus")?, text(&order, "paymentStatus")?);
    Ok(format!("{status} {payment}"))
}

/// Fails if a round was a violation.
pub fn ensure_correct(outcomes: &[Outcome]) -> anyhow::Result<()> {
    let violations: Vec<_> = outcomes
        .iter()
        .flat_map(|outcome| &outcome.violations)
        .cloned()
        .collect();
    ensure!(violations.is_empty(), "{}", violations.join("\n"));
    Ok(())
}
