//! Wrong passwords: 1000 against one account slow nobody else down and keep nobody out, and an unknown
//! email takes as long as a wrong password.

use std::{
    net::{IpAddr, Ipv4Addr},
    pin::pin,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use clap::Args;
use futures::FutureExt as _;
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use tokio::{
    task::JoinSet,
    time::{interval, sleep},
};

use crate::{
    Server,
    api::Api,
    environment::{Environment, Options},
    table::Table,
};

/// Windows with attempts, each after one without: what else the machine does changes both.
const ROUNDS: usize = 5;
/// Attempts of a round.
const ATTEMPTS: usize = 200;
/// The time from one attempt to the next: 100 a second.
const ATTEMPT_INTERVAL: Duration = Duration::from_millis(10);
/// Attempts of one address, of which the first are compared with the password, and the others limited.
const EACH_ADDRESS: usize = 20;
/// Other users, of whom two log in during each round.
const OTHERS: usize = 2 * ROUNDS;
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
    let environment = Environment::start(Options::new("passwords", arguments.server))?;
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

/// Tries 1000 wrong passwords of user 0, from 50 addresses, while the others read and log in, also behind
/// an attacker's address.
async fn attack(base: &str, table: &mut Table) -> anyhow::Result<()> {
    let others = client(0, 1)?;
    let (status, body) = log_in(&others, base, &email(1), PASSWORD).await?;
    ensure!(status == StatusCode::OK, "{status} {body}");
    let token = body["data"]["token"].as_str().context("a token")?;
    let reader = Reader {
        client: others.clone(),
        url: format!("{base}/users"),
        token: token.to_owned(),
    };
    let addresses = 1..=u8::try_from(ROUNDS * ATTEMPTS / EACH_ADDRESS)?;
    let attackers = addresses.map(|host| client(2, host));
    let attackers = attackers.collect::<anyhow::Result<Vec<_>>>()?;
    let (mut slower, mut limited) = (Vec::new(), 0);
    for round in 0..ROUNDS {
        let window = sleep(ATTEMPT_INTERVAL * u32::try_from(ATTEMPTS)?);
        let quiet = median(reader.read_during(window.map(Ok)).await?.1);
        let attackers = &attackers[round * ATTEMPTS / EACH_ADDRESS..];
        let logins = logins(base, [&others, &attackers[0]], round);
        let attack = async { tokio::try_join!(attempts(base, attackers), logins) };
        let ((refused, ()), busy) = reader.read_during(attack).await?;
        limited += refused;
        let busy = median(busy);
        println!(
            "round {round}: median read {:.2} ms without attempts, {:.2} ms during",
            ms(quiet),
            ms(busy)
        );
        slower.push(100.0 * (busy.as_secs_f64() / quiet.as_secs_f64() - 1.0));
    }
    let (status, _) = log_in(&others, base, &email(0), PASSWORD).await?;
    ensure!(
        status == StatusCode::OK,
        "the owner at another address: {status}"
    );
    slower.sort_by(f64::total_cmp);
    let slower = slower[ROUNDS / 2];
    table.row(
        "wrong passwords that were limited",
        f64::from(limited),
        "",
        None,
    );
    table.row("reads of others are slower by", slower, "%", Some(20.0));
    Ok(())
}

/// Tries the wrong passwords of a round, and returns how many were limited. Each is sent at its time,
/// whatever became of those before.
async fn attempts(base: &str, attackers: &[Client]) -> anyhow::Result<u32> {
    let (mut pace, mut tries) = (interval(ATTEMPT_INTERVAL), JoinSet::new());
    for number in 0..ATTEMPTS {
        pace.tick().await;
        let attacker = attackers[number / EACH_ADDRESS].clone();
        let base = base.to_owned();
        tries.spawn(async move {
            log_in(&attacker, &base, &email(0), &format!("Wrong-{number}")).await
        });
    }
    let mut limited = 0;
    while let Some(tried) = tries.join_next().await {
        let (status, body) = tried??;
        // 503: as many wait for their hash as may.
        let is_limited = matches!(
            status,
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE
        );
        ensure!(
            is_limited || status == StatusCode::UNAUTHORIZED,
            "{status} {body}"
        );
        limited += u32::from(is_limited);
    }
    Ok(limited)
}

/// Logs two of the other users in, each at an address.
async fn logins(base: &str, clients: [&Client; 2], round: usize) -> anyhow::Result<()> {
    for (client, number) in clients.into_iter().zip(1 + 2 * round..) {
        let (status, body) = log_in(client, base, &email(number), PASSWORD).await?;
        ensure!(status == StatusCode::OK, "another user: {status} {body}");
    }
    Ok(())
}

/// Reads as one of the other users.
struct Reader {
    client: Client,
    url: String,
    token: String,
}

impl Reader {
    /// Reads one after the other until the work is done. Returns its result, and how long each read took.
    async fn read_during<T>(
        &self,
        work: impl Future<Output = anyhow::Result<T>>,
    ) -> anyhow::Result<(T, Vec<Duration>)> {
        let (mut work, mut times) = (pin!(work), Vec::new());
        loop {
            let started = Instant::now();
            let request = self.client.get(&self.url).bearer_auth(&self.token).send();
            let mut request = pin!(request);
            tokio::select! {
                done = &mut work => return Ok((done?, times)),
                read = &mut request => {
                    ensure!(read?.status() == StatusCode::OK, "a read failed");
                    times.push(started.elapsed());
                }
            }
        }
    }
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
