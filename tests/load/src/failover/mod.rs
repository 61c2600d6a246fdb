//! `load failover`: three nodes of NATS store each event. While orders are created and paid, the node that
//! leads their stream is killed, and starts again later.

mod broker;
mod events;
mod publishing;

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use clap::Args;
use futures::{StreamExt as _, stream};
use platform::{messaging::jetstream::stream_name, pg::Schema};
use reqwest::RequestBuilder;
use scenarios::checks;
use serde_json::Value;
use sqlx::PgConnection;
use tokio::{task::block_in_place, time::sleep};

use self::{broker::Broker, publishing::Publishing};
use crate::{
    Server,
    api::{self, Api},
    environment::{Environment, Options},
    fixture::{FUNDS, Fixture},
    machine,
};

const NODES: usize = 3;
const IN_FLIGHT: usize = 8;
/// The context whose stream loses its leader.
const CONTEXT: Schema = Schema::new("orders");

/// Options of `load failover`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// For how many seconds orders are created. The node is killed after a third of them, and starts again
    /// after two.
    #[arg(long, default_value_t = 30)]
    seconds: u64,
    #[command(flatten)]
    server: Server,
}

/// Prints what became of the orders and of their events, and fails if one is lost.
pub async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let environment = Environment::start_empty(Options {
        nats_nodes: NODES,
        settings: vec![("NATS_STREAM_REPLICAS".to_owned(), NODES.to_string())],
        ..Options::new("failover", arguments.server)
    })?;
    println!("load average {}", machine::load_average());
    let broker = Broker::connect(&environment).await?;
    broker.wait_until_complete(NODES).await?;
    let fixture = Fixture::create(Api::new(&environment), IN_FLIGHT).await?;
    let seconds = Duration::from_secs(arguments.seconds);
    let publishing = Publishing::watch(environment.connect(None).await?);
    let orders = tokio::spawn(create_orders(fixture, seconds));
    kill_and_start_again(&environment, &broker, seconds / 3).await?;
    let orders = orders.await??;
    orders.print();
    let longest = publishing.longest_pause().await?.as_secs_f64();
    println!("{longest:>8.1} s at most without an acknowledged event while there were some");
    checks::assert_settled(&environment.stack).await?;
    broker.wait_until_complete(NODES).await?;
    let mut conn = environment.connect(None).await?;
    orders.ensure_paid(&mut conn).await?;
    ensure_bonuses(&mut conn).await?;
    events::ensure_stored(&broker, &mut conn).await?;
    environment.stop()
}

/// Kills the leader of the stream after this time, and starts it again as much later.
async fn kill_and_start_again(
    environment: &Environment,
    broker: &Broker,
    third: Duration,
) -> anyhow::Result<()> {
    sleep(third).await;
    let leader = broker.leader_of(CONTEXT, None).await?;
    environment.stack.kill_nats(&leader)?;
    let killed = Instant::now();
    let next = broker.leader_of(CONTEXT, Some(&leader)).await?;
    let seconds = killed.elapsed().as_secs_f64();
    println!(
        "killed {leader}, which led {}; {next} leads it {seconds:.1} s later",
        stream_name(CONTEXT)
    );
    sleep(third.saturating_sub(killed.elapsed())).await;
    block_in_place(|| environment.stack.start_nats())
}

/// What became of the requests.
#[derive(Debug, Default)]
struct Orders {
    accepted: Vec<String>,
    errors: BTreeMap<String, u32>,
}

/// Creates orders for this long, always the same number at a time.
async fn create_orders(fixture: Fixture, duration: Duration) -> anyhow::Result<Orders> {
    let started = Instant::now();
    let numbers = (0..).take_while(|_| started.elapsed() < duration);
    let mut responses = stream::iter(numbers)
        .map(|number| create_order(fixture.order(number)))
        .buffer_unordered(IN_FLIGHT);
    let mut orders = Orders::default();
    while let Some(response) = responses.next().await {
        match response? {
            Ok(id) => orders.accepted.push(id),
            Err(error) => *orders.errors.entry(error).or_default() += 1,
        }
    }
    Ok(orders)
}

/// Returns the id of the order, or else why there is none.
async fn create_order(request: RequestBuilder) -> anyhow::Result<Result<String, String>> {
    let body = match api::send(request).await {
        Ok(body) => body,
        Err(failure) => return Ok(Err(failure.reason)),
    };
    let body: Value = serde_json::from_str(&body)?;
    let id = body["data"]["id"].as_str().context("an order has an id")?;
    Ok(Ok(id.to_owned()))
}

impl Orders {
    fn print(&self) {
        let errors: u32 = self.errors.values().sum();
        println!(
            "{:>8} orders accepted, {errors} errors",
            self.accepted.len()
        );
        for (error, count) in &self.errors {
            println!("{count:>8} {error}");
        }
    }

    /// Fails unless every accepted order is paid.
    async fn ensure_paid(&self, conn: &mut PgConnection) -> anyhow::Result<()> {
        let query = sqlx::query_scalar(
            "select count(*) from orders.orders
             where id = any($1::text[]::uuid[]) and payment_status = 'fully_paid'",
        );
        let paid: i64 = query.bind(&self.accepted).fetch_one(conn).await?;
        println!("{paid:>8} of them are paid");
        ensure!(
            usize::try_from(paid)? == self.accepted.len(),
            "an accepted order is not paid"
        );
        Ok(())
    }
}

/// Fails unless what the buyers have left is the bonus of each order, once, beside what they did not pay.
async fn ensure_bonuses(conn: &mut PgConnection) -> anyhow::Result<()> {
    let query = sqlx::query_as(
        "with buyers as (
             select sum(b.amount) as amount
             from wallet.balances b join wallet.wallets w on w.id = b.wallet_id
             where w.owner_id is not null),
         sold as (
             select count(*) as count, sum(o.paid_amount) as paid, sum(o.bonus) as bonus
             from orders.orders o)
         select sold.count, sold.bonus::text,
             (buyers.amount - $1 + sold.paid)::text,
             buyers.amount - $1 + sold.paid = sold.bonus
         from buyers, sold",
    );
    let funds = i64::from(FUNDS) * i64::try_from(IN_FLIGHT)?;
    let (count, bonus, paid, is_equal): (i64, String, String, bool) =
        query.bind(funds).fetch_one(conn).await?;
    println!("{count:>8} orders with bonuses of {bonus}, credited {paid}");
    ensure!(is_equal, "a bonus is missing or was credited twice");
    Ok(())
}
