//! Runs wallet-svc on a fresh database, and talks to it as an admin or as a user.
//!
//! `TestApp` is the running service, [`clients`] holds one gRPC client per service and caller,
//! [`calls`] the RPCs that most tests make, [`requests`] their default bodies, and [`expect`] what
//! tests compare: balances and rejections with named fields.

mod calls;
mod clients;
mod expect;
mod requests;

use std::time::Duration;

use clap::Parser;
use platform::{
    auth::{Auth, ServiceToken, TokenIssuer, TokenVerifier},
    ids::Ids,
    service::{Application as _, Runtime},
};
use sqlx::{ConnectOptions as _, PgPool, postgres::PgConnectOptions};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use wallet_svc::{Service, config::Config, consumers::Ledger, verify};

pub(crate) use clients::{Clients, keyed, result};
pub(crate) use expect::{Balance, Rejection, balance, invalid, rejection, usd};
pub(crate) use requests::{
    deposit, equals, filter, including, list, mask, payment, posting, sort, transfer,
};

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

    /// Returns clients that call as this user.
    pub(crate) fn as_user(&self, id: &str) -> Clients {
        Clients::of_user(&self.process.url, id)
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

    pub(crate) async fn execute(&self, sql: &'static str) {
        sqlx::query(sql).execute(&self.pool).await.unwrap();
    }

    pub(crate) async fn count(&self, sql: &'static str) -> i64 {
        sqlx::query_scalar(sql).fetch_one(&self.pool).await.unwrap()
    }

    /// Counts the sessions that wait for a lock.
    pub(crate) async fn lock_waiters(&self) -> i64 {
        self.count(
            "select count(*) from pg_stat_activity
             where datname = current_database() and wait_event_type = 'Lock'",
        )
        .await
    }

    /// Returns the types of the events about this aggregate, in order.
    pub(crate) async fn event_types(&self, aggregate: &str) -> Vec<String> {
        sqlx::query_scalar(
            "select replace(event_type, 'guerdon.wallet.v1.', '') from wallet.outbox
             where aggregate_id::text = $1 order by position",
        )
        .bind(aggregate)
        .fetch_all(&self.pool)
        .await
        .unwrap()
    }

    /// Gives the wallet an owner, of whom identity-svc need not know.
    pub(crate) async fn set_owner(&self, wallet: &str, user: &str) {
        sqlx::query(
            "with owned as (
                 update wallet.wallets set owner_id = $2::uuid where id = $1::uuid returning id)
             update wallet.balances set version = version + 1
             from owned where wallet_id = owned.id",
        )
        .bind(wallet)
        .bind(user)
        .execute(&self.pool)
        .await
        .unwrap();
    }
}

impl Process {
    async fn start(server: &PgConnectOptions, more: &[String], seed: u64) -> Self {
        let app_role = server.clone().username("guerdon_wallet_app");
        let database_url = app_role.to_url_lossy().to_string();
        let flags = [
            ["--database-url", &database_url],
            ["--listen", "127.0.0.1:0"],
            // Nobody answers there: no test needs NATS.
            ["--nats-url", "nats://127.0.0.1:1"],
            ["--service-secret", "s"],
        ];
        let args = ["wallet-svc"]
            .into_iter()
            .chain(flags.into_iter().flatten());
        let args = args.chain(more.iter().map(String::as_str));
        let config = Flags::try_parse_from(args).unwrap().config;
        let runtime = runtime(seed);
        let mut readiness = runtime.readiness.subscribe();
        let service = Service::build(config, runtime).await.unwrap();
        let url = format!("http://{}", service.local_addr());
        let ledger = service.ledger();
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
            stop,
            task,
        }
    }
}

/// The system's clock, seeded ids, and tokens signed with a key of the test.
fn runtime(seed: u64) -> Runtime {
    let issuer = TokenIssuer::new(&SEED);
    let token = || clients::token(&clients::admin());
    Runtime {
        ids: Ids::seeded(seed),
        auth: Some(Auth {
            verifier: TokenVerifier::fixed(&issuer.jwks_json()).unwrap(),
            token: ServiceToken::new(move || Box::pin(async move { Ok(token()) })),
        }),
        ..Runtime::system()
    }
}
