//! Wrong passwords: 1000 against one account slow nobody else down and keep nobody out, and an unknown
//! email takes as long as a wrong password.

use std::{
    net::{IpAddr, Ipv4Addr},
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use clap::Args;
use futures::{StreamExt as _, future::join_all, stream};
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};

use crate::{
    Server,
    api::Api,
    environment::{Environment, Options},
    table::Table,
};

const ATTEMPTS: usize = 1_000;
/// Attempts at the same time.
const PARALLEL: usize = 50;
const OTHERS: usize = 10;
/// Comparisons of an unknown email with a wrong password.
const TRIES: u8 = 200;
const PASSWORD: &str = "Load-Pa55phrase";

/// Options of `load passwords`.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    server: Server,
}

/// Prints the figures, and fails if one is out of its bounds.
pub async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let environment = Environment::start(Options {
        name: "passwords",
        keep: false,
        wallets: 1,
        server: arguments.server,
    })?;
    let api = Api::new(&environment);
    let base = environment.stack.wiring().rest_url();
    for number in 0..=OTHERS {
        api.create("/users", &new_user(number)).await?;
    }
    let mut table = Table::default();
    attack(&base, &mut table).await?;
    compare(&base, &mut table).await?;
    table.check_bounds()?;
    environment.stop()
}

fn email(number: usize) -> String {
    format!("user-{number}@example.com")
}

fn new_user(number: usize) -> Value {
    json!({"email": email(number), "password": PASSWORD, "approved": true})
}

/// Makes a client with an address of its own, as the limits are by address.
fn client(network: u8, host: u8) -> anyhow::Result<Client> {
    let address = IpAddr::V4(Ipv4Addr::new(127, 0, network, host));
    Ok(Client::builder().local_address(address).build()?)
}

/// Logs in, and returns the status and the body.
async fn log_in(
    client: &Client,
    base: &str,
    email: &str,
    password: &str,
) -> anyhow::Result<(StatusCode, Value)> {
    let body = json!({"email": email, "password": password});
    let request = client.post(format!("{base}/auth/token")).json(&body);
    let response = request.send().await?;
    Ok((response.status(), response.json().await?))
}

/// Tries 1000 wrong passwords of user 0 while the others read and log in, also behind the attacker's
/// address.
async fn attack(base: &str, table: &mut Table) -> anyhow::Result<()> {
    let (attacker, others) = (client(0, 1)?, client(0, 2)?);
    let (status, body) = log_in(&others, base, &email(1), PASSWORD).await?;
    ensure!(status == StatusCode::OK, "{status} {body}");
    let token = body["data"]["token"]
        .as_str()
        .context("a token")?
        .to_owned();
    let quiet = median(read_for(&others, base, &token, Duration::from_secs(3)).await?);

    let tries = stream::iter(0..ATTEMPTS)
        .map(|number| {
            let (attacker, base) = (&attacker, base);
            async move { log_in(attacker, base, &email(0), &format!("Wrong-{number}")).await }
        })
        .buffer_unordered(PARALLEL)
        .collect::<Vec<_>>();
    let reads = read_for(&others, base, &token, Duration::from_secs(3));
    let logins = join_all((1..=OTHERS).map(|number| {
        let client = if number % 2 == 0 { &others } else { &attacker };
        async move { log_in(client, base, &email(number), PASSWORD).await }
    }));
    let (tries, reads, logins) = tokio::join!(tries, reads, logins);
    for login in logins {
        let (status, body) = login?;
        ensure!(status == StatusCode::OK, "another user: {status} {body}");
    }
    let mut limited = 0_u32;
    for tried in tries {
        let (status, body) = tried?;
        limited += u32::from(status == StatusCode::TOO_MANY_REQUESTS);
        ensure!(status.is_client_error(), "{status} {body}");
    }
    let (status, _) = log_in(&others, base, &email(0), PASSWORD).await?;
    ensure!(
        status == StatusCode::OK,
        "the owner at another address: {status}"
    );
    let busy = median(reads?);
    let slower = 100.0 * (busy.as_secs_f64() / quiet.as_secs_f64() - 1.0);
    table.row(
        "wrong passwords that were limited",
        f64::from(limited),
        "",
        None,
    );
    table.row("median read without attempts", ms(quiet), "ms", None);
    table.row("median read during 1000 attempts", ms(busy), "ms", None);
    table.row("reads of others are slower by", slower, "%", Some(20.0));
    Ok(())
}

/// Reads one after the other, and returns how long each took.
async fn read_for(
    client: &Client,
    base: &str,
    token: &str,
    time: Duration,
) -> anyhow::Result<Vec<Duration>> {
    let (started, mut times) = (Instant::now(), Vec::new());
    while started.elapsed() < time {
        let one = Instant::now();
        let request = client.get(format!("{base}/users")).bearer_auth(token);
        ensure!(
            request.send().await?.status() == StatusCode::OK,
            "a read failed"
        );
        times.push(one.elapsed());
    }
    Ok(times)
}

/// Compares the times of an unknown email and of a wrong password, in turns.
async fn compare(base: &str, table: &mut Table) -> anyhow::Result<()> {
    let (mut unknown, mut wrong) = (Vec::new(), Vec::new());
    for host in 1..=TRIES {
        let client = client(1, host)?;
        // Connects before the clock runs.
        client.get(format!("{base}/livez")).send().await?;
        let nobody = format!("nobody-{host}@example.com");
        for (email, times) in [(nobody, &mut unknown), (email(2), &mut wrong)] {
            let started = Instant::now();
            let (status, body) = log_in(&client, base, &email, "Wrong-Pa55").await?;
            times.push(started.elapsed());
            ensure!(status == StatusCode::UNAUTHORIZED, "{status} {body}");
        }
    }
    let (unknown, wrong) = (median(unknown), median(wrong));
    let differ = 100.0 * (unknown.as_secs_f64() / wrong.as_secs_f64() - 1.0).abs();
    table.row("median of an unknown email", ms(unknown), "ms", None);
    table.row("median of a wrong password", ms(wrong), "ms", None);
    table.row("they differ by", differ, "%", Some(10.0));
    Ok(())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
