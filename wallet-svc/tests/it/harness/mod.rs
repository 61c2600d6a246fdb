//! Runs wallet-svc on a fresh database, and talks to it as an admin or as a user.
//!
//! `TestApp` is the running service, [`clients`] holds one gRPC client per service and caller,
//! [`calls`] the RPCs that most tests make, [`requests`] their default bodies, and [`expect`] what
//! tests compare: balances and rejections with named fields. [`snapshot`] renders messages,
//! [`fake_identity`] stands in for identity-svc.

mod calls;
mod clients;
mod database;
mod expect;
mod fake_identity;
mod requests;
mod snapshot;

use std::time::Duration;

use clap::Parser;
use platform::{
    auth::{Auth, ServiceToken, TokenIssuer, TokenVerifier},
    ids::Ids,
    service::{Application as _, Runtime},
    testing::app_role_url,
};
use sqlx::{PgPool, postgres::PgConnectOptions};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use wallet_svc::{
    SCHEMA, Service,
    config::Config,
    consumers::{Ledger, Referrals},
    verify,
};

pub(crate) use clients::{Clients, keyed, result};
pub(crate) use database::LARGEST_BALANCE;
pub(crate) use expect::{Balance, Rejection, balance, failed, invalid, rejection, usd};
pub(crate) use fake_identity::serve_users;
pub(crate) use requests::{
    deposit, equals, exchange, filter, including, list, mask, operation, payment, posting, rate,
    sort, transfer, withdrawal,
};
pub(crate) use snapshot::stable;

/// How long a test waits for a condition before it fails.
pub(crate) const DEADLINE: Duration = Duration::from_mins(1);

/// Two users; identity-svc is not asked about them.
pub(crate) const ANN: &str = "0192abcd-0000-7000-8000-0000000000aa";
pub(crate) const BEN: &str = "0192abcd-0000-7000-8000-0000000000bb";

/// A well-formed id that names nothing.
pub(crate) const UNKNOWN: &str = "0192abcd-0000-7000-8000-00000000000f";

const SEED: [u8; 32] = [7; 32];

#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    config: Config,
}

/// A running wallet-svc and its database.
pub(crate) struct TestApp {
    /// Connected as a superuser, to read and change what the service cannot.
    pub(crate) pool: PgPool,
    /// Clients that call as an admin.
    pub(crate) admin: Clients,
    /// How the service reaches the database.
    server: PgConnectOptions,
    flags: Vec<String>,
    process: Process,
}

struct Process {
    url: String,
    ledger: Ledger,
    referrals: Referrals,
    stop: CancellationToken,
    task: JoinHandle<anyhow::Result<()>>,
}

impl TestApp {
    pub(crate) async fn new(pool: PgPool) -> Self {
        Self::with_flags(pool, &[]).await
    }

    /// Starts with command-line flags beyond the usual.
    pub(crate) async fn with_flags(pool: PgPool, flags: &[&str]) -> Self {
        let server = (*pool.connect_options()).clone();
        let flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
        Self::start_on(pool, server, flags, 1).await
    }

    /// Starts a service that must not start, and returns why.
    pub(crate) async fn start_error(pool: &PgPool, flags: &[&str]) -> String {
        let flags: Vec<_> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        let config = config(&pool.connect_options(), &flags);
        let error = Service::build(config, runtime(1)).await.unwrap_err();
        format!("{error:#}")
    }

    /// Starts a service that reaches the database through a proxy; the test itself does not.
    pub(crate) async fn through_proxy(pool: PgPool, proxy: PgConnectOptions) -> Self {
        Self::start_on(pool, proxy, Vec::new(), 1).await
    }

    async fn start_on(
        pool: PgPool,
        server: PgConnectOptions,
        flags: Vec<String>,
        seed: u64,
    ) -> Self {
        let process = Process::start(&server, &flags, seed).await;
        Self {
            pool,
            admin: Clients::of_admin(&process.url),
            server,
            flags,
            process,
        }
    }

    /// Starts the process again after [`Self::stop`]. `seed` is of its ids.
    pub(crate) async fn start(&mut self, seed: u64) {
        self.process = Process::start(&self.server, &self.flags, seed).await;
        self.admin = Clients::of_admin(&self.process.url);
    }

    pub(crate) async fn stop(&mut self) {
        self.process.stop.cancel();
        (&mut self.process.task).await.unwrap().unwrap();
    }

    /// Starts another process on the same database.
    pub(crate) async fn replica(&self) -> Self {
        let (server, flags) = (self.server.clone(), self.flags.clone());
        Self::start_on(self.pool.clone(), server, flags, 2).await
    }

    /// Returns the ledger that consumed events are posted to.
    pub(crate) fn ledger(&self) -> Ledger {
        self.process.ledger.clone()
    }

    /// Returns what consumed referrals and refunds are posted by.
    pub(crate) fn referrals(&self) -> Referrals {
        self.process.referrals.clone()
    }

    /// Returns clients that call as this user.
    pub(crate) fn as_user(&self, id: &str) -> Clients {
        Clients::of_user(&self.process.url, id)
    }

    /// Returns clients that call as this service.
    pub(crate) fn as_service(&self, name: &str) -> Clients {
        Clients::of_service(&self.process.url, name)
    }

    /// Returns clients that call without a token.
    pub(crate) fn anonymous(&self) -> Clients {
        Clients::anonymous(&self.process.url)
    }

    /// Stops the service, and fails if the ledger is inconsistent or events are missing.
    pub(crate) async fn finish(mut self) {
        self.stop().await;
        assert_eq!(verify::find_violations(&self.pool).await.unwrap(), []);
        let gaps = "select count(*) from (
                select from wallet.outbox group by aggregate_kind, aggregate_id
                having max(aggregate_version) <> count(*)) gaps";
        assert_eq!(self.count(gaps).await, 0);
    }
}

impl Process {
    async fn start(server: &PgConnectOptions, more: &[String], seed: u64) -> Self {
        let config = config(server, more);
        let runtime = runtime(seed);
        let mut readiness = runtime.readiness.subscribe();
        let service = Service::build(config, runtime).await.unwrap();
        let url = format!("http://{}", service.local_addr());
        let (ledger, referrals) = (service.ledger(), service.referrals());
        let stop = CancellationToken::new();
        let task = tokio::spawn(service.run_until_stopped(stop.clone()));
        let ready = readiness.wait_for(|ready| *ready);
        tokio::time::timeout(DEADLINE, ready)
            .await
            .unwrap()
            .unwrap();
        Self {
            url,
            ledger,
            referrals,
            stop,
            task,
        }
    }
}

/// The settings of a service on this database. Nothing listens at its NATS and identity-svc URLs.
fn config(server: &PgConnectOptions, more: &[String]) -> Config {
    let database_url = app_role_url(server, SCHEMA);
    let flags = [
        ["--database-url", &database_url],
        ["--listen", "127.0.0.1:0"],
        ["--nats-url", "nats://127.0.0.1:1"],
        ["--service-secret", "k3J9x0PqLr7sTz2Vb5Yw8Nc1Md4Fg6Ha"],
    ];
    let mut args = vec!["wallet-svc"];
    args.extend(flags.into_iter().flatten());
    if !more.iter().any(|flag| flag == "--identity-grpc-url") {
        args.extend(["--identity-grpc-url", "http://127.0.0.1:1"]);
    }
    args.extend(more.iter().map(String::as_str));
    Flags::try_parse_from(args).unwrap().config
}

/// The system's clock, seeded ids, and tokens signed with a key of the test.
fn runtime(seed: u64) -> Runtime {
    let issuer = TokenIssuer::new(&SEED);
    let token = || clients::token(&clients::service("wallet-svc"));
    Runtime {
        ids: Ids::seeded(seed),
        auth: Some(Auth {
            verifier: TokenVerifier::fixed(&issuer.jwks_json()).unwrap(),
            token: ServiceToken::new(move || Box::pin(async move { Ok(token()) })),
        }),
        ..Runtime::system()
    }
}
