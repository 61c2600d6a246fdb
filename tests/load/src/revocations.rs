//! The time from the block of a user until its token is refused, at two processes of each program. Half of
//! them learn of it from one process of identity-svc, half from the other.

use std::{fmt, time::Duration};

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use hdrhistogram::Histogram;
use proto::{
    catalog::v1::{ListProductsRequest, product_service_client::ProductServiceClient},
    identity::v1::{GetUserRequest, user_service_client::UserServiceClient},
    orders::v1::{ListOrdersRequest, order_service_client::OrderServiceClient},
    wallet::v1::{GetWalletRequest, wallet_service_client::WalletServiceClient},
};
use reqwest::StatusCode;
use serde_json::json;
use stack::Service;
use tokio::{
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval, timeout},
};
use tonic::{Code, Status, transport::Channel};

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
        replicas: Service::ALL.map(|service| (service, 2)).into(),
        ..Options::new("revocations", arguments.server)
    })?;
    let second_gateway = environment.stack.add_gateway()?;
    use_second_identity(&environment, &second_gateway)?;
    let mut user = User::create(&environment, &second_gateway).await?;
    let processes = processes(&environment, &user, &second_gateway)?;
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
        // The next block goes to the other process of identity-svc.
        user.gateways.rotate_left(1);
    }
    report(&processes, &times)?;
    environment.stop()
}

/// Has the second process of each program call the second process of identity-svc.
fn use_second_identity(environment: &Environment, second_gateway: &str) -> anyhow::Result<()> {
    let stack = &environment.stack;
    let port = stack.wiring().instance("identity-svc-2")?.port;
    let url = format!("http://127.0.0.1:{port}");
    let names = [
        "catalog-svc-2",
        "orders-svc-2",
        "wallet-svc-2",
        second_gateway,
    ];
    for name in names {
        stack.stop(name)?;
        stack.start_again(name, &[("IDENTITY_GRPC_URL".to_owned(), url.clone())])?;
    }
    Ok(())
}

/// A user who is blocked again and again.
struct User {
    /// The same API at each gateway; the first is called.
    gateways: [Api; 2],
    id: String,
    wallet: String,
}

impl User {
    async fn create(environment: &Environment, second_gateway: &str) -> anyhow::Result<Self> {
        let api = Api::new(environment);
        let second = gateway_url(environment, second_gateway)?;
        let user = json!({
            "email": "ann@example.com", "password": "Correct1Horse", "approved": true,
        });
        let user = api.create("/users", &user).await?;
        let text = |name: &str| user[name].as_str().map(str::to_owned).context("a user");
        Ok(Self {
            gateways: [api.clone(), api.at(second)],
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
        let request = self.gateways[0].post(&format!("/users/{}/{action}", self.id));
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
    Service {
        service: Service,
        channel: Channel,
        user: String,
        wallet: String,
    },
}

fn gateway_url(environment: &Environment, name: &str) -> anyhow::Result<String> {
    let port = environment.stack.wiring().instance(name)?.port;
    Ok(format!("http://127.0.0.1:{port}"))
}

fn processes(
    environment: &Environment,
    user: &User,
    second_gateway: &str,
) -> anyhow::Result<Vec<Process>> {
    let client = reqwest::Client::new();
    let mut processes = Vec::new();
    for name in ["gateway", second_gateway] {
        // A request that the gateway itself refuses, once it has accepted the token.
        let url = gateway_url(environment, name)? + "/products?page[size]=0";
        processes.push(Process {
            name: name.to_owned(),
            kind: Kind::Gateway {
                client: client.clone(),
                url,
            },
        });
    }
    for instance in &environment.stack.wiring().instances {
        let Some(service) = instance.service else {
            continue;
        };
        processes.push(Process {
            name: instance.name.clone(),
            kind: Kind::Service {
                service,
                channel: rpc::lazy(instance.port)?,
                user: user.id.clone(),
                wallet: user.wallet.clone(),
            },
        });
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
            Kind::Service {
                service,
                channel,
                user,
                wallet,
            } => match read(*service, channel.clone(), user, wallet, token).await {
                Ok(()) => Ok(true),
                Err(status) if status.code() == Code::Unauthenticated => Ok(false),
                Err(status) => bail!("{self}: {status}"),
            },
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

/// Reads something that the user may see.
async fn read(
    service: Service,
    channel: Channel,
    user: &str,
    wallet: &str,
    token: &Token,
) -> Result<(), Status> {
    match service {
        Service::Catalog => {
            let request = rpc::authorized(ListProductsRequest::default(), token);
            let mut products = ProductServiceClient::new(channel);
            products.list_products(request).await.map(drop)
        }
        Service::Orders => {
            let request = rpc::authorized(ListOrdersRequest::default(), token);
            let mut orders = OrderServiceClient::new(channel);
            orders.list_orders(request).await.map(drop)
        }
        Service::Wallet => {
            let id = wallet.to_owned();
            let request = rpc::authorized(GetWalletRequest { id }, token);
            let mut wallets = WalletServiceClient::new(channel);
            wallets.get_wallet(request).await.map(drop)
        }
        Service::Identity => {
            let id = user.to_owned();
            let request = rpc::authorized(GetUserRequest { id }, token);
            let mut users = UserServiceClient::new(channel);
            users.get_user(request).await.map(drop)
        }
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
