//! `bench edge`: what the gateway adds to a read. The CPU time of `GET /products/:id` is compared with that of
//! the same read over gRPC plus that of a server that says hello over HTTP, measured in turns.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
};

use anyhow::{Context as _, ensure};
use axum::{Router, routing::get};
use proto::catalog::v1::{GetProductRequest, product_service_client::ProductServiceClient};
use reqwest::Client;
use tokio::net::TcpListener;
use tonic::transport::Channel;

use crate::{
    Server,
    environment::{Environment, Options},
    machine,
    product_read::{ProductRead, micros_each, turn, used},
    rpc::{self, Token},
    table::Table,
};

/// Turns; one more before them warms up.
const TURNS: u32 = 4;
const MAX_RATIO: f64 = 1.6;

/// Serves the smallest response of axum, and prints its address. A process of its own, as its CPU time counts.
pub async fn hello() -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/", listener.local_addr()?);
    let router = Router::new().route("/", get(|| async { "Hello, world!" }));
    Ok(axum::serve(listener, router).await?)
}

/// Prints the CPU times, and fails if the ratio is out of its bound.
pub async fn run(server: Server) -> anyhow::Result<()> {
    let environment = Environment::start_empty(Options::new("edge", server))?;
    println!("load average {}", machine::load_average());
    let reads = Reads::prepare(&environment).await?;
    reads.turn().await?;
    let mut sum = [0.0; 3];
    for _ in 0..TURNS {
        for (sum, seconds) in sum.iter_mut().zip(reads.turn().await?) {
            *sum += seconds;
        }
    }
    let [rest, grpc, hello] = sum.map(|seconds| micros_each(seconds, TURNS));
    let mut table = Table::default();
    table.row(
        "GET /products/:id, gateway and catalog-svc",
        rest,
        "us",
        None,
    );
    table.row("GetProduct, catalog-svc", grpc, "us", None);
    table.row("hello world of axum", hello, "us", None);
    let ratio = rest / (grpc + hello);
    println!("{:<52} {ratio:>9.2}     (at most {MAX_RATIO})", "ratio");
    environment.stop()?;
    ensure!(
        ratio <= MAX_RATIO,
        "the gateway costs {ratio:.2} times as much"
    );
    Ok(())
}

/// The three kinds of reads.
struct Reads {
    rest: ProductRead,
    products: ProductServiceClient<Channel>,
    token: Token,
    hello: Hello,
}

impl Reads {
    async fn prepare(environment: &Environment) -> anyhow::Result<Self> {
        Ok(Self {
            rest: ProductRead::prepare(environment).await?,
            products: ProductServiceClient::new(rpc::service(environment, "catalog-svc").await?),
            token: rpc::admin_token(environment).await?,
            hello: Hello::start()?,
        })
    }

    /// Reads in turns, and returns the CPU seconds of REST, gRPC and hello.
    async fn turn(&self) -> anyhow::Result<[f64; 3]> {
        let both = [self.rest.gateway, self.rest.catalog];
        let rest = spent(&both, self.rest.turn()).await?;
        let grpc = turn(async || {
            let (id, include) = (self.rest.id.clone(), Vec::new());
            let request = rpc::authorized(GetProductRequest { id, include }, &self.token);
            self.products.clone().get_product(request).await?;
            Ok(())
        });
        let grpc = spent(&[self.rest.catalog], grpc).await?;
        let hello = turn(async || {
            let request = self.hello.client.get(&self.hello.url);
            request.send().await?.error_for_status()?.bytes().await?;
            Ok(())
        });
        let hello = spent(&[self.hello.process.id()], hello).await?;
        Ok([rest, grpc, hello])
    }
}

/// Returns the CPU seconds that processes spend on a turn.
async fn spent(
    processes: &[u32],
    turn: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<f64> {
    let before = used(processes);
    turn.await?;
    Ok(used(processes) - before)
}

/// The process that says hello, until it is dropped.
struct Hello {
    process: Child,
    url: String,
    client: Client,
}

impl Hello {
    fn start() -> anyhow::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        let mut process = command.arg("hello").stdout(Stdio::piped()).spawn()?;
        let output = process.stdout.take().context("its output")?;
        let mut url = String::new();
        BufReader::new(output).read_line(&mut url)?;
        Ok(Self {
            process,
            url: url.trim().to_owned(),
            client: Client::new(),
        })
    }
}

impl Drop for Hello {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
