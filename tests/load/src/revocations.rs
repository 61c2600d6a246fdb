//! The time from the block of a user until its token is refused, at two gateways and at two processes of
//! wallet-svc.

use std::{fmt, time::Duration};

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use hdrhistogram::Histogram;
use proto::wallet::v1::{GetWalletRequest, wallet_service_client::WalletServiceClient};
use reqwest::StatusCode;
use serde_json::json;
use tokio::{
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval, timeout},
};
use tonic::{Code, transport::Channel};

use crate::{
    Server,
    api::Api,
    environment::{Environment, Options},
    machine,
    rpc::{self, Token},
    table::Table,
};

/// The bound of the 99th percentile, in milliseconds.
const MAX_MILLIS: f64 = 1000.0;
const POLL_INTERVAL: Duration = Duration::from_millis(5);
const POLL_TIMEOUT: Duration = Duration::from_secs(10);
const MICROS_PER_MILLI: f64 = 1000.0;

/// Options of `load revocations`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The number of blocks.
    #[arg(long, default_value_t = 200)]
    tries: i32,
    #[command(flatten)]
    server: Server,
}

/// Prints the times, and fails if the 99th percentile reaches a second.
pub async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let mut environment = Environment::start_empty(Options {
        name: "revocations",
        keep: false,
        wallets: 2,
        server: arguments.server,
    })?;
    let user = User::create(&Api::new(&environment)).await?;
    let processes = processes(&mut environment, &user).await?;
    println!("load average {}", machine::load_average());
    let mut times: Vec<_> = processes
        .iter()
        .map(|_| Histogram::<u64>::new(3))
        .collect::<Result<_, _>>()?;
    for version in 0..arguments.tries {
        let token = rpc::user_token(&environment, &user.id, version).await?;
        let refused = user.block_and_time(&processes, &token).await?;
        for (times, refused) in times.iter_mut().zip(refused) {
            times.record(u64::try_from(refused.as_micros())?)?;
        }
    }
    report(&processes, &times)?;
    environment.stop()
}

/// A user who is blocked again and again.
struct User {
    api: Api,
    id: String,
    wallet: String,
}

impl User {
    async fn create(api: &Api) -> anyhow::Result<Self> {
        let user = json!({
            "email": "ann@example.com", "password": "Correct1Horse", "approved": true,
        });
        let user = api.create("/users", &user).await?;
        let text = |name: &str| user[name].as_str().map(str::to_owned).context("a user");
        Ok(Self {
            api: api.clone(),
            id: text("id")?,
            wallet: text("primaryWalletId")?,
        })
    }

    /// Returns how long after the request to block the user each process refused the token.
    async fn block_and_time(
        &self,
        processes: &[Process],
        token: &Token,
    ) -> anyhow::Result<Vec<Duration>> {
        for process in processes {
            ensure!(process.accepts(token).await?, "{process} refuses early");
        }
        let mut polls = JoinSet::new();
        for (index, process) in processes.iter().cloned().enumerate() {
            let token = token.clone();
            polls.spawn(async move { anyhow::Ok((index, process.refusal(&token).await?)) });
        }
        let started = Instant::now();
        self.act("block").await?;
        let mut refused = polls
            .join_all()
            .await
            .into_iter()
            .collect::<Result<Vec<_>, _>>()?;
        self.act("unblock").await?;
        refused.sort_unstable();
        Ok(refused.into_iter().map(|(_, at)| at - started).collect())
    }

    async fn act(&self, action: &str) -> anyhow::Result<()> {
        let request = self.api.post(&format!("/users/{}/{action}", self.id));
        request.send().await?.error_for_status()?;
        Ok(())
    }
}

/// A process that verifies tokens.
#[derive(Clone)]
struct Process {
    name: String,
    kind: Kind,
}

#[derive(Clone)]
enum Kind {
    Gateway {
        client: reqwest::Client,
        url: String,
    },
    Wallet {
        channel: Channel,
        wallet: String,
    },
}

async fn processes(environment: &mut Environment, user: &User) -> anyhow::Result<Vec<Process>> {
    let second = environment.stack.add_gateway()?;
    let client = reqwest::Client::new();
    let mut processes = Vec::new();
    for name in ["gateway", &second] {
        let port = environment.stack.wiring().instance(name)?.port;
        // A request that the gateway itself refuses, once it has accepted the token.
        let url = format!("http://127.0.0.1:{port}/products?page[size]=0");
        let client = client.clone();
        let kind = Kind::Gateway { client, url };
        let name = name.to_owned();
        processes.push(Process { name, kind });
    }
    let channels = rpc::wallets(environment, 2, 1).await?;
    for (channel, name) in channels.into_iter().zip(["wallet-svc", "wallet-svc-2"]) {
        let wallet = user.wallet.clone();
        let kind = Kind::Wallet { channel, wallet };
        let name = name.to_owned();
        processes.push(Process { name, kind });
    }
    Ok(processes)
}

impl Process {
    async fn accepts(&self, token: &Token) -> anyhow::Result<bool> {
        match &self.kind {
            Kind::Gateway { client, url } => {
                let request = client.get(url).header("authorization", token.to_str()?);
                match request.send().await?.status() {
                    StatusCode::BAD_REQUEST => Ok(true),
                    StatusCode::UNAUTHORIZED => Ok(false),
                    status => bail!("{self}: {status}"),
                }
            }
            Kind::Wallet { channel, wallet } => {
                let id = wallet.clone();
                let request = rpc::authorized(GetWalletRequest { id }, token);
                let mut client = WalletServiceClient::new(channel.clone());
                match client.get_wallet(request).await {
                    Ok(_) => Ok(true),
                    Err(status) if status.code() == Code::Unauthenticated => Ok(false),
                    Err(status) => bail!("{self}: {status}"),
                }
            }
        }
    }

    /// Waits until the token is refused, and returns when that was.
    async fn refusal(&self, token: &Token) -> anyhow::Result<Instant> {
        let refused = async {
            let mut polls = interval(POLL_INTERVAL);
            polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                polls.tick().await;
                if !self.accepts(token).await? {
                    return anyhow::Ok(Instant::now());
                }
            }
        };
        let in_time = timeout(POLL_TIMEOUT, refused).await;
        in_time.with_context(|| format!("{self} accepts a revoked token"))?
    }
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

fn report(processes: &[Process], times: &[Histogram<u64>]) -> anyhow::Result<()> {
    let mut table = Table::default();
    for (process, times) in processes.iter().zip(times) {
        for (what, micros, bound) in [
            ("p50", times.value_at_quantile(0.5), None),
            ("p99", times.value_at_quantile(0.99), Some(MAX_MILLIS)),
            ("max", times.max(), None),
        ] {
            let millis = f64::from(u32::try_from(micros)?) / MICROS_PER_MILLI;
            let what = format!("{process}, block to refusal, {what}");
            table.row(&what, millis, "ms", bound);
        }
    }
    table.check_bounds()
}
