//! Payments of orders while wallet-svc is stopped: every one of them ends within a minute of its
//! return, and in orders-svc as in the ledger.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use clap::Args;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use serde_json::json;
use sqlx::PgConnection;
use tokio::{
    task::JoinSet,
    time::{MissedTickBehavior, interval},
};

use crate::{
    Server,
    api::Api,
    environment::{Environment, Options},
    machine,
};

const WALLET: &str = "wallet-svc";
/// Buyers, each with money for all orders.
const BUYERS: usize = 20;
const PREPARED_AT_ONCE: usize = 4;
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Options of `load outage`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Payments a second.
    #[arg(long, default_value_t = 200)]
    rate: u32,
    /// How many seconds wallet-svc is stopped.
    #[arg(long, default_value_t = 30)]
    seconds: u32,
    /// Within how many seconds of its return every payment has to end.
    #[arg(long, default_value_t = 60)]
    limit: u32,
    #[command(flatten)]
    server: Server,
}

/// Prints how the payments ended and when, and fails if one took too long.
pub async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let environment = Environment::start_empty(Options::new("outage", arguments.server))?;
    let api = Api::new(&environment);
    let mut conn = environment.connect(None).await?;
    println!("load average {}", machine::load_average());
    let count = (arguments.rate * arguments.seconds) as usize;
    eprintln!("creating {count} orders …");
    let orders = create_orders(&api, count).await?;

    environment.stack.stop(WALLET)?;
    let responses = pay(&api, orders, arguments.rate).await;
    println!("{count} payments while {WALLET} was stopped, by response:");
    for (response, count) in responses {
        println!("  {count:>6} {response}");
    }
    let open = claims(&mut conn).await?;
    println!("{open} unfinished payments at its return");
    environment.stack.start_again(WALLET, &[])?;
    let seconds = settle(&mut conn, arguments.limit).await?;
    println!("all of them ended within {seconds:.1} s of its return");
    report(&mut conn).await?;
    environment.stack.verify_ledger()?;
    ensure!(open > 0, "no payment was made during the outage");
    environment.stop()
}

/// Creates orders of 1.00 and returns their ids.
async fn create_orders(api: &Api, count: usize) -> anyhow::Result<Vec<String>> {
    let category = api
        .create("/categories", &json!({ "title": "All" }))
        .await?;
    let product = json!({
        "name": "Tea", "price": "1", "assetCode": "usd", "categoryId": category["id"],
    });
    let product = api.create("/products", &product).await?["id"].clone();
    let mut buyers = Vec::new();
    for number in 0..BUYERS {
        buyers.push(create_buyer(api, number, count).await?);
    }
    let orders = (0..count).map(|number| {
        let cart =
            json!({ "userId": buyers[number % BUYERS], "lines": [{ "productId": product }] });
        async move {
            let order = api.create("/orders", &cart).await?;
            let id = order["id"].as_str().context("an order has an id")?;
            anyhow::Ok(id.to_owned())
        }
    });
    stream::iter(orders)
        .buffer_unordered(PREPARED_AT_ONCE)
        .try_collect()
        .await
}

/// Creates a user who can pay so many orders of 1.00, and returns its id.
async fn create_buyer(api: &Api, number: usize, funds: usize) -> anyhow::Result<serde_json::Value> {
    let user = json!({
        "email": format!("buyer{number}@example.com"), "password": "Correct1Horse",
        "approved": true,
    });
    let user = api.create("/users", &user).await?;
    let deposit = json!({
        "amount": funds.to_string(), "assetCode": "usd", "code": "internal", "data": {},
        "commit": true, "destinationWalletId": user["primaryWalletId"],
    });
    let deposit = api.create("/transactions/deposit", &deposit).await?;
    let id = deposit["id"].as_str().context("a deposit has an id")?;
    api.create(&format!("/transactions/{id}/confirm"), &json!({}))
        .await?;
    Ok(user["id"].clone())
}

/// Pays the orders at this rate, whether or not there are responses, and counts those by status and
/// code.
async fn pay(api: &Api, orders: Vec<String>, rate: u32) -> BTreeMap<String, u32> {
    let mut ticks = interval(Duration::from_secs(1) / rate.max(1));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut payments = JoinSet::new();
    for order in orders {
        ticks.tick().await;
        let request = api.post(&format!("/orders/{order}/pay"));
        payments.spawn(async move { response(request).await });
    }
    let mut responses = BTreeMap::new();
    for response in payments.join_all().await {
        *responses.entry(response).or_default() += 1;
    }
    responses
}

async fn response(request: reqwest::RequestBuilder) -> String {
    let response = match request.send().await {
        Ok(response) => response,
        Err(error) => return format!("{error}"),
    };
    let status = response.status();
    let body: serde_json::Value = response.json().await.unwrap_or_default();
    let code = body["code"].as_str().unwrap_or_default();
    format!("{} {code}", status.as_u16())
}

async fn claims(conn: &mut PgConnection) -> anyhow::Result<i64> {
    let count = sqlx::query_scalar("select count(*) from orders.claims");
    Ok(count.fetch_one(conn).await?)
}

/// Waits until no payment is unfinished, and returns how many seconds that took.
async fn settle(conn: &mut PgConnection, limit: u32) -> anyhow::Result<f64> {
    let returned = Instant::now();
    let mut polls = interval(POLL_INTERVAL);
    loop {
        polls.tick().await;
        let (open, seconds) = (claims(conn).await?, returned.elapsed().as_secs_f64());
        if open == 0 {
            return Ok(seconds);
        }
        ensure!(
            seconds < f64::from(limit),
            "{open} payments are unfinished {seconds:.0} s after the return"
        );
    }
}

/// Prints how many orders are paid, and fails unless the ledger has as many payments.
async fn report(conn: &mut PgConnection) -> anyhow::Result<()> {
    let counts = "select
         (select count(*) from orders.orders where payment_status = 'fully_paid'),
         (select count(*) from orders.orders where payment_status = 'unpaid'),
         (select count(*) from wallet.transactions where code = 'pay')";
    let (paid, unpaid, payments): (i64, i64, i64) = sqlx::query_as(counts).fetch_one(conn).await?;
    println!("{paid} orders are paid, {unpaid} are not; the ledger has {payments} payments");
    ensure!(paid == payments, "orders-svc and the ledger disagree");
    Ok(())
}
