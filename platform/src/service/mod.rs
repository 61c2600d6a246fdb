//! How every process starts, and how it stops: the same `main` for all, and the same
//! `build` / `run_until_stopped` in production and in tests.
//!
//! ```no_run
//! # use platform::{
//! #     config::{Common, Settings}, grpc::server::Server, lifecycle::Supervisor,
//! #     messaging::{jetstream, relay}, pg, service::{self, Application, Runtime, Schema}};
//! # use proto::wallet::v1::{
//! #     GetSettingsRequest, GetSettingsResponse,
//! #     settings_service_server::{SettingsService, SettingsServiceServer}};
//! # use sqlx::{PgPool, migrate::Migrator};
//! # use tokio_util::sync::CancellationToken;
//! # use tonic::{Request, Response, Status};
//! # mod wallet_svc { pub(super) use super::WalletService; }
//! # const SCHEMA: pg::Schema = pg::Schema::new("wallet");
//! # #[derive(clap::Args)]
//! # struct Config {
//! #     #[arg(long)] listen: std::net::SocketAddr, #[arg(long)] database_url: String,
//! #     #[arg(long)] nats_url: String, #[command(flatten)] common: Common }
//! # impl Settings for Config {
//! #     fn common(&self) -> &Common { &self.common }
//! #     fn listen(&self) -> std::net::SocketAddr { self.listen }
//! # }
//! # struct SettingsApi;
//! # #[tonic::async_trait]
//! # impl SettingsService for SettingsApi {
//! #     async fn get_settings(&self, _: Request<GetSettingsRequest>)
//! #         -> Result<Response<GetSettingsResponse>, Status> {
//! #         Ok(Response::new(GetSettingsResponse::default()))
//! #     }
//! # }
//! # struct WalletService { server: Server, pool: PgPool, nats_url: String }
//! // wallet-svc/src/main.rs
//! fn main() -> std::process::ExitCode {
//!     service::main::<wallet_svc::WalletService>()
//! }
//!
//! // wallet-svc/src/lib.rs
//! # const _: &str = stringify! {
//! pub static MIGRATOR: Migrator = sqlx::migrate!();
//! # };
//! # static MIGRATOR: Migrator = Migrator::DEFAULT;
//!
//! impl Application for WalletService {
//!     const NAME: &'static str = "wallet-svc";
//!     const ABOUT: &'static str = "Wallets, assets and the double-entry ledger";
//!     const SCHEMA: Option<Schema> = Some(Schema {
//!         name: "wallet",
//!         migrator: &MIGRATOR,
//!         url_env: "WALLET_DATABASE_URL",
//!         owner_url_env: "WALLET_OWNER_DATABASE_URL",
//!     });
//!     type Config = Config;          // clap Args with a flattened Common, impl config::Settings
//!
//!     async fn build(config: Config, runtime: Runtime) -> anyhow::Result<Self> {
//!         let auth = runtime.auth(Self::NAME, &config.common)?;
//!         let pool = pg::connect(&config.database_url, &pg::Options::new(Self::NAME))?;
//!         let database = pool.clone();
//!         runtime.readiness.require("postgres", move || {
//!             let database = database.clone();
//!             async move { anyhow::ensure!(pg::is_reachable(&database).await, "no answer"); Ok(()) }
//!         });
//!         let server = Server::bind(config.listen, auth.verifier, runtime.readiness).await?
//!             .add_service(SettingsServiceServer::new(SettingsApi));
//!         Ok(Self { server, pool, nats_url: config.nats_url })
//!     }
//!
//!     async fn run_until_stopped(self, stop: CancellationToken) -> anyhow::Result<()> {
//!         let tasks = Supervisor::new(stop.clone());
//!         let js = jetstream::connect(&self.nats_url, Self::NAME).await?;
//!         tasks.spawn("relay", move |stop| {
//!             let relay = relay::run(self.pool.clone(), SCHEMA, js.clone(), stop);
//!             async move { relay.await; Ok(()) }
//!         });
//!         self.server.serve(stop).await?;
//!         tasks.finish().await;
//!         Ok(())
//!     }
//! }
//! ```
//!
//! A test builds the same application with port 0 and its own clock, ids and tokens:
//!
//! ```no_run
//! # use platform::{auth::Auth, clock::Clock, service::{Application, Runtime}};
//! # async fn start<WalletService: Application>(
//! #     config: WalletService::Config, now: chrono::DateTime<chrono::Utc>, auth: Auth,
//! #     stop: tokio_util::sync::CancellationToken) -> anyhow::Result<()> {
//! let runtime = Runtime { clock: Clock::fixed(now), auth: Some(auth), ..Runtime::system() };
//! let service = WalletService::build(config, runtime).await?;
//! tokio::spawn(service.run_until_stopped(stop.clone()));
//! # Ok(()) }
//! ```

mod command;
mod database;
mod runtime;

use std::{future::Future, process::ExitCode, time::Duration};

use futures::future::BoxFuture;
use sqlx::{PgPool, migrate::Migrator};
use tokio_util::sync::CancellationToken;

use self::command::Invocation;
use crate::{
    config::{self, Settings},
    lifecycle::{self, Metrics},
    telemetry,
};

pub use runtime::Runtime;

/// How long a process may take to finish what it has begun.
const DRAIN: Duration = Duration::from_secs(25);

/// One of Guerdon's processes.
pub trait Application: Sized + Send + 'static {
    /// Its name in logs, traces and tokens: `orders-svc`.
    const NAME: &'static str;
    /// One line for `--help`.
    const ABOUT: &'static str;
    /// The schema it owns. With one come the commands `migrate`, `replay` and `dead-letters`.
    const SCHEMA: Option<Schema> = None;
    /// Checks that its data agree with each other; with it comes the command `verify`.
    const VERIFY: Option<Verify> = None;
    /// Its settings.
    type Config: Settings;

    /// Connects and binds; port 0 picks a free one. Nothing is served before it runs.
    fn build(
        config: Self::Config,
        runtime: Runtime,
    ) -> impl Future<Output = anyhow::Result<Self>> + Send;

    /// Serves until `stop`, then drains.
    fn run_until_stopped(
        self,
        stop: CancellationToken,
    ) -> impl Future<Output = anyhow::Result<()>> + Send;
}

/// Checks the data of a schema and fails on what is wrong with them.
pub type Verify = fn(PgPool) -> BoxFuture<'static, anyhow::Result<()>>;

/// The database schema of a service.
#[derive(Debug, Clone, Copy)]
pub struct Schema {
    /// Its name: `orders`.
    pub name: &'static str,
    /// Its migrations.
    pub migrator: &'static Migrator,
    /// The variable with the app role's url, which `replay` and `dead-letters` use.
    pub url_env: &'static str,
    /// The variable with the owner role's url, which `migrate` uses.
    pub owner_url_env: &'static str,
}

/// Runs a process from its command line to its exit code. Whatever happens, buffered spans leave
/// before it ends.
pub fn main<A: Application>() -> ExitCode {
    let invocation = command::parse::<A>();
    match started(A::NAME, invocation.telemetry()) {
        Ok((runtime, guard)) => {
            let code = runtime.block_on(run::<A>(invocation));
            drop(guard);
            runtime.shutdown_timeout(Duration::from_secs(1));
            code
        }
        Err(error) => {
            eprintln!("{}: {error:#}", A::NAME);
            ExitCode::FAILURE
        }
    }
}

fn started(
    name: &'static str,
    settings: &config::Telemetry,
) -> anyhow::Result<(tokio::runtime::Runtime, telemetry::Guard)> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let guard = {
        let _entered = runtime.enter();
        telemetry::init(name, settings)?
    };
    Ok((runtime, guard))
}

async fn run<A: Application>(invocation: Invocation<A::Config>) -> ExitCode {
    let result = match invocation {
        Invocation::Serve(config) => serve::<A>(*config).await,
        Invocation::Database(command) => command.run().await,
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(
                error = telemetry::chain(error.as_ref()),
                "ended with an error"
            );
            ExitCode::FAILURE
        }
    }
}

async fn serve<A: Application>(config: A::Config) -> anyhow::Result<()> {
    config::check(&config)?;
    let stop = lifecycle::stop_on_signal()?;
    let metrics = Metrics::install()?;
    let runtime = Runtime {
        metrics: metrics.clone(),
        ..Runtime::system()
    };
    let readiness = runtime.readiness.clone();
    let probes = config.metrics_listen();

    let Some(built) = stop.run_until_cancelled(A::build(config, runtime)).await else {
        return Ok(());
    };
    let application = built?;
    tokio::spawn(metrics.clone().upkeep());
    let probes = async {
        match probes {
            Some(address) => {
                lifecycle::serve_probes(address, readiness, metrics, stop.clone()).await
            }
            None => Ok(()),
        }
    };
    let running = application.run_until_stopped(stop.clone());
    // The first to fail ends the process: nothing half alive stays behind.
    let work = async { tokio::try_join!(running, probes) };
    tokio::select! {
        ended = work => {
            ended?;
            tracing::info!("stopped");
            Ok(())
        }
        () = drain_time(&stop) => {
            tracing::error!(limit = ?DRAIN, "not everything had ended in time");
            Ok(())
        }
    }
}

async fn drain_time(stop: &CancellationToken) {
    stop.cancelled().await;
    tokio::time::sleep(DRAIN).await;
}
