//! `bench edge`: what the gateway adds to a read. The CPU time of `GET /products/:id` is compared with that of
//! the same read over gRPC plus that of a server that says hello over HTTP, measured in turns.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
};

use anyhow::{Context as _, ensure};
use axum::{Router, routing::get};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use proto::catalog::v1::{GetProductRequest, product_service_client::ProductServiceClient};
use reqwest::Client;
use serde_json::json;
use tokio::net::TcpListener;
use tonic::transport::Channel;

use crate::{
    Server,
    api::Api,
    environment::{Environment, Options},
    machine,
    rpc::{self, Token},
    table::Table,
};

/// Requests of a turn, and how many of them are in flight.
const REQUESTS: u32 = 5_000;
const IN_FLIGHT: usize = 16;
/// Turns; one more before them warms up.
const TURNS: u32 = 4;
const MAX_RATIO: f64 = 1.6;
const MICROS: f64 = 1e6;

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
    let requests = f64::from(REQUESTS * TURNS);
    let [rest, grpc, hello] = sum.map(|seconds| seconds * MICROS / requests);
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
    api: Api,
    path: String,
    id: String,
    products: ProductServiceClient<Channel>,
    token: Token,
    hello: Hello,
    gateway: u32,
    catalog: u32,
}

impl Reads {
    async fn prepare(environment: &Environment) -> anyhow::Result<Self> {
        let api = Api::new(environment);
        let category = json!({ "title": "Books" });
        let category = api.create("/categories", &category).await?;
        let product = json!({
            "name": "A book", "description": "Of 300 pages.", "categoryId": category["id"],
            "price": "12.50", "customData": { "isbn": "978-3-16-148410-0" },
        });
        let product = api.create("/products", &product).await?;
        let id = product["id"].as_str().context("an id")?.to_owned();
        let processes = environment.stack.process_ids();
        let pid = |name: &str| {
            let pid = processes.get(name).copied();
            pid.with_context(|| format!("{name} is not running"))
        };
        Ok(Self {
            api,
            path: format!("/products/{id}"),
            id,
            products: ProductServiceClient::new(rpc::service(environment, "catalog-svc").await?),
            token: rpc::admin_token(environment).await?,
            hello: Hello::start()?,
            gateway: pid("gateway")?,
            catalog: pid("catalog-svc")?,
        })
    }

    /// Reads in turns, and returns the CPU seconds of REST, gRPC and hello.
    async fn turn(&self) -> anyhow::Result<[f64; 3]> {
        let both = [self.gateway, self.catalog];
        let rest = spent(&both, || async {
            let response = self.api.get(&self.path).send().await?.error_for_status()?;
            response.bytes().await?;
            Ok(())
        });
        let rest = rest.await?;
        let catalog = [self.catalog];
        let grpc = spent(&catalog, || async {
            let (id, include) = (self.id.clone(), Vec::new());
            let request = rpc::authorized(GetProductRequest { id, include }, &self.token);
            self.products.clone().get_product(request).await?;
            Ok(())
        });
        let grpc = grpc.await?;
        let server = [self.hello.process.id()];
        let hello = spent(&server, || async {
            let request = self.hello.client.get(&self.hello.url);
            request.send().await?.error_for_status()?.bytes().await?;
            Ok(())
        });
        Ok([rest, grpc, hello.await?])
    }
}

/// Returns the CPU seconds that processes spend on this many calls.
async fn spent<F>(processes: &[u32], call: impl Fn() -> F) -> anyhow::Result<f64>
where
    F: Future<Output = anyhow::Result<()>>,
{
    let used = || -> f64 {
        processes
            .iter()
            .map(|pid| machine::cpu_time(*pid).own)
            .sum()
    };
    let before = used();
    stream::iter(0..REQUESTS)
        .map(|_| call())
        .buffer_unordered(IN_FLIGHT)
        .try_collect::<()>()
        .await?;
    Ok(used() - before)
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
