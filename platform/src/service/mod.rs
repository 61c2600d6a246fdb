//! How every process starts and stops: one `main` for all of them, and the same `build` and
//! `run_until_stopped` in production and in tests.
//!
//! ```no_run
//! # use platform::{
//! #     config::{Common, Grpc, Nats, ServiceSecret, Settings}, grpc::server::Server, pg,
//! #     service::{self, Application, Backbone, Database, Runtime}};
//! # use proto::wallet::v1::{
//! #     GetSettingsRequest, GetSettingsResponse,
//! #     settings_service_server::{SettingsService, SettingsServiceServer}};
//! # use sqlx::migrate::Migrator;
//! # use tokio_util::sync::CancellationToken;
//! # use tonic::{Request, Response, Status};
//! # mod wallet_svc { pub(super) use super::Service; }
//! # #[derive(clap::Args)]
//! # pub struct Config {
//! #     #[arg(long)] listen: std::net::SocketAddr,
//! #     #[arg(long)] database_url: secrecy::SecretString,
//! #     #[command(flatten)] nats: Nats, #[command(flatten)] grpc: Grpc,
//! #     #[command(flatten)] service_secret: ServiceSecret, #[command(flatten)] common: Common }
//! # impl Settings for Config {
//! #     fn common(&self) -> &Common { &self.common }
//! #     fn listen(&self) -> std::net::SocketAddr { self.listen }
//! # }
//! # struct SettingsGrpc;
//! # #[tonic::async_trait]
//! # impl SettingsService for SettingsGrpc {
//! #     async fn get_settings(&self, _: Request<GetSettingsRequest>)
//! #         -> Result<Response<GetSettingsResponse>, Status> {
//! #         Ok(Response::new(GetSettingsResponse::default()))
//! #     }
//! # }
//! // wallet-svc/src/main.rs
//! fn main() -> std::process::ExitCode {
//!     service::main::<wallet_svc::Service>()
//! }
//!
//! // wallet-svc/src/lib.rs
//! pub const SCHEMA: pg::Schema = pg::Schema::new("wallet");
//! # const _: &str = stringify! {
//! pub static MIGRATOR: Migrator = sqlx::migrate!();
//! # };
//! # static MIGRATOR: Migrator = Migrator::DEFAULT;
//!
//! // wallet-svc/src/service.rs
//! pub struct Service {
//!     server: Server,
//!     backbone: Backbone,
//! }
//!
//! impl Application for Service {
//!     const NAME: &'static str = "wallet-svc";
//!     const ABOUT: &'static str = "Wallets, assets and the double-entry ledger";
//!     const DATABASE: Option<Database> = Some(Database {
//!         schema: SCHEMA,
//!         migrator: &MIGRATOR,
//!         url_env: "WALLET_DATABASE_URL",
//!         owner_url_env: "WALLET_OWNER_DATABASE_URL",
//!     });
//!     type Config = Config;          // clap Args with a flattened Common, impl config::Settings
//!
//!     async fn build(config: Config, runtime: Runtime) -> anyhow::Result<Self> {
//!         let auth = runtime.auth(Self::NAME, &config.common, &config.service_secret)?;
//!         let mut backbone =
//!             Backbone::connect::<Self>(&config.database_url, &config.nats, &runtime).await?;
//!         backbone.worker("verifier", |stop| async move { stop.cancelled().await; Ok(()) });
//!         let tls = &config.common.tls;
//!         let server =
//!             Server::bind(config.listen, &config.grpc, tls, auth.verifier, runtime.readiness).await?
//!             .add_service(SettingsServiceServer::new(SettingsGrpc));
//!         Ok(Self { server, backbone })
//!     }
//!
//!     async fn run_until_stopped(self, stop: CancellationToken) -> anyhow::Result<()> {
//!         self.backbone.run(self.server, stop).await
//!     }
//! }
//! ```
//!
//! A test builds the same application with port 0 and its own clock, ids and tokens:
//!
//! ```no_run
//! # use platform::{auth::Auth, clock::Clock, service::{Application, Runtime}};
//! # async fn start<Service: Application>(
//! #     config: Service::Config, now: chrono::DateTime<chrono::Utc>, auth: Auth,
//! #     stop: tokio_util::sync::CancellationToken) -> anyhow::Result<()> {
//! let runtime = Runtime { clock: Clock::fixed(now), auth: Some(auth), ..Runtime::system() };
//! let service = Service::build(config, runtime).await?;
//! tokio::spawn(service.run_until_stopped(stop.clone()));
//! # Ok(()) }
//! ```

mod backbone;
mod command;
mod database;
mod runtime;
mod secret_files;

use std::{future::Future, io, process::ExitCode, time::Duration};

use futures::future::BoxFuture;
use sqlx::{PgPool, migrate::Migrator};
use tokio_util::sync::CancellationToken;

use self::command::Invocation;
use crate::{
    config::{self, Settings},
    lifecycle::{self, Metrics},
    pg::Schema,
    telemetry,
};

pub use backbone::Backbone;
pub use runtime::Runtime;

/// The exit code of a process that found its address taken: the number of EADDRINUSE on Linux.
const ADDRESS_IN_USE: u8 = 98;

/// How long a process may take to stop, after its delay.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(25);

/// One of Guerdon's processes.
pub trait Application: Sized + Send + 'static {
    /// Name in logs, traces and tokens: `orders-svc`.
    const NAME: &'static str;
    /// Description in `--help`, one line.
    const ABOUT: &'static str;
    /// The database; with it come the commands `migrate`, `replay` and `dead-letters`.
    const DATABASE: Option<Database> = None;
    /// Checks the data for consistency; with it comes the command `verify`.
    const VERIFY: Option<Verify> = None;
    /// Commands of the service's own on its schema.
    const COMMANDS: &'static [OwnCommand] = &[];
    /// Settings from flags and the environment.
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

/// Checks the data of a schema; an error says what is inconsistent.
pub type Verify = fn(PgPool) -> BoxFuture<'static, anyhow::Result<()>>;

/// A command of one service on its schema, as the app role.
#[derive(Debug, Clone, Copy)]
pub struct OwnCommand {
    /// Name on the command line.
    pub name: &'static str,
    /// Description in `--help`, one line.
    pub about: &'static str,
    /// Adds its settings.
    pub settings: fn(clap::Command) -> clap::Command,
    /// Runs it with its settings.
    pub run: fn(PgPool, clap::ArgMatches) -> BoxFuture<'static, anyhow::Result<()>>,
}

/// The schema of a service and the access to it.
#[derive(Debug, Clone, Copy)]
pub struct Database {
    /// The schema, which no other service uses.
    pub schema: Schema,
    /// Migrations of the schema.
    pub migrator: &'static Migrator,
    /// Variable with the app role's url, which `replay` and `dead-letters` use.
    pub url_env: &'static str,
    /// Variable with the owner role's url, which `migrate` uses.
    pub owner_url_env: &'static str,
}

/// Runs a process from its command line to its exit code. Buffered spans are exported before it ends.
pub fn main<A: Application>() -> ExitCode {
    // What is allocated until the settings are known stays for good.
    allow_huge_pages(false);
    let invocation = command::parse::<A>();
    match start_runtime(A::NAME, invocation.telemetry()) {
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

fn start_runtime(
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
                "process: failed, exiting"
            );
            exit_code(&error)
        }
    }
}

/// Tells a taken address from other failures, because a supervisor can choose another.
fn exit_code(error: &anyhow::Error) -> ExitCode {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref());
    let is_taken = causes.any(|cause: &io::Error| cause.kind() == io::ErrorKind::AddrInUse);
    if is_taken {
        ExitCode::from(ADDRESS_IN_USE)
    } else {
        ExitCode::FAILURE
    }
}

async fn serve<A: Application>(config: A::Config) -> anyhow::Result<()> {
    config::check(&config, A::DATABASE.map(|database| database.url_env))?;
    allow_huge_pages(config.common().huge_pages);
    let metrics = Metrics::install()?;
    let runtime = Runtime {
        metrics: metrics.clone(),
        ..Runtime::system()
    };
    let readiness = runtime.readiness.clone();
    let drain_delay = Duration::from_secs(config.common().drain_delay.into());
    let stop = lifecycle::stop_on_signal(&readiness, drain_delay)?;
    let probes = config.metrics_listen();

    let application = async {
        let Some(built) = stop.run_until_cancelled(A::build(config, runtime)).await else {
            return Ok(());
        };
        built?.run_until_stopped(stop.clone()).await
    };
    tokio::spawn(metrics.clone().upkeep());
    let probes = async {
        match probes {
            Some(address) => {
                lifecycle::serve_probes(address, readiness, metrics, stop.clone()).await
            }
            None => Ok(()),
        }
    };
    // The first to fail ends the process.
    let work = async { tokio::try_join!(application, probes) };
    tokio::select! {
        ended = work => {
            ended?;
            tracing::info!("process: stopped");
            Ok(())
        }
        () = drain_timeout(&stop) => {
            tracing::error!(timeout = ?DRAIN_TIMEOUT, "process: drain timed out, exiting");
            Ok(())
        }
    }
}

/// Has the kernel give the process huge pages from now on, or none. The allocator asks for them, and fills them
/// to half.
fn allow_huge_pages(are_allowed: bool) {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::thread::disable_transparent_huge_pages(!are_allowed) {
        tracing::debug!(%error, "process: huge pages not set, going on with those of the system");
    }
}

async fn drain_timeout(stop: &CancellationToken) {
    stop.cancelled().await;
    tokio::time::sleep(DRAIN_TIMEOUT).await;
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;

    use super::*;

    #[test]
    fn a_taken_address_has_an_exit_code_of_its_own() {
        let code = |kind: io::ErrorKind| {
            let failed: Result<(), _> = Err(io::Error::from(kind));
            format!(
                "{:?}",
                exit_code(&failed.context("cannot listen").unwrap_err())
            )
        };
        let taken = format!("{:?}", ExitCode::from(ADDRESS_IN_USE));
        assert_eq!(code(io::ErrorKind::AddrInUse), taken);
        assert_eq!(
            code(io::ErrorKind::NotFound),
            format!("{:?}", ExitCode::FAILURE)
        );
    }
}
