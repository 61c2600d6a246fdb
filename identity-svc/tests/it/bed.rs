//! A running identity-svc on a fresh database, and clients that speak as anyone.

use std::time::Duration;

use chrono::{DateTime, Utc};
use clap::Parser;
use identity_svc::{SCHEMA, Service, config::Config};
use platform::{
    auth::{Caller, Grant, Kind, Role, ServiceToken, TokenIssuer},
    clock::Clock,
    error::{Code, Failure},
    grpc::client::{self, Client},
    idempotency,
    ids::Ids,
    service::{Application as _, Runtime},
    testing,
};
use proto::identity::v1::{
    CreateUserRequest, User, auth_service_client::AuthServiceClient,
    task_service_client::TaskServiceClient, user_service_client::UserServiceClient,
};
use sqlx::{
    ConnectOptions as _, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status};

use crate::wallet::FakeWallet;

pub(crate) const SOON: Duration = Duration::from_mins(1);
pub(crate) const API_KEY: &str = "gk_bootstrap_0123456789abcdef";
pub(crate) const SECRET: &str = "a secret of this deployment";
const SEED: [u8; 32] = [7; 32];
const SEED_BASE64: &str = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc";

#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    config: Config,
}

pub(crate) struct Bed {
    /// As a superuser, to look behind the service.
    pub(crate) pool: PgPool,
    pub(crate) wallet: FakeWallet,
    pub(crate) clock: Clock,
    flags: Vec<String>,
    /// Seed of the next process's ids.
    seed: u64,
    url: String,
    stop: CancellationToken,
    running: JoinHandle<anyhow::Result<()>>,
}

pub(crate) fn noon() -> DateTime<Utc> {
    "2026-01-31T12:00:00Z".parse().unwrap()
}

impl Bed {
    /// With a fixed clock and seeded ids, for snapshots.
    pub(crate) async fn new(server: PgConnectOptions) -> Self {
        Self::with(
            server,
            Clock::fixed(noon()),
            &["--bootstrap-api-key", API_KEY],
        )
        .await
    }

    pub(crate) async fn with(server: PgConnectOptions, clock: Clock, extra: &[&str]) -> Self {
        let pool = PgPoolOptions::new()
            .connect_with(server.clone())
            .await
            .unwrap();
        let wallet = FakeWallet::default();
        let wallet_url = format!("http://{}", wallet.start().await);
        let app = server
            .username("guerdon_identity_app")
            .to_url_lossy()
            .to_string();
        #[expect(clippy::disallowed_methods, reason = "where the broker is")]
        let nats = std::env::var("NATS_URL").expect("NATS_URL is not set");
        let flags = [
            "--database-url",
            &app,
            "--nats-url",
            &nats,
            "--listen",
            "127.0.0.1:0",
        ]
        .into_iter()
        .chain(["--wallet-grpc-url", &wallet_url, "--service-secret", SECRET])
        .chain(["--signing-key", SEED_BASE64])
        .map(str::to_owned)
        .collect();
        let mut bed = Self {
            pool,
            wallet,
            clock,
            flags,
            seed: 1,
            url: String::new(),
            stop: CancellationToken::new(),
            running: tokio::spawn(async { Ok(()) }),
        };
        bed.start(extra).await;
        bed
    }

    /// Starts a process, after [`Bed::stop`] another one.
    pub(crate) async fn start(&mut self, extra: &[&str]) {
        let extra = extra.iter().map(|flag| (*flag).to_owned());
        let flags = ["identity-svc".to_owned()]
            .into_iter()
            .chain(self.flags.clone())
            .chain(extra);
        let runtime = Runtime {
            clock: self.clock.clone(),
            ids: Ids::seeded(self.seed),
            ..Runtime::system()
        };
        self.seed += 1;
        let mut ready = runtime.readiness.subscribe();
        let config = Flags::try_parse_from(flags).unwrap().config;
        let service = Service::build(config, runtime).await.unwrap();
        self.url = format!("http://{}", service.local_addr());
        self.stop = CancellationToken::new();
        self.running = tokio::spawn(service.run_until_stopped(self.stop.clone()));
        tokio::time::timeout(SOON, ready.wait_for(|ready| *ready))
            .await
            .unwrap()
            .unwrap();
    }

    pub(crate) async fn stop(&mut self) {
        self.stop.cancel();
        (&mut self.running).await.unwrap().unwrap();
    }

    /// Stops, and fails if work was left undone.
    pub(crate) async fn end(mut self) {
        testing::assert_no_leftovers(&self.pool, SCHEMA).await;
        assert_eq!(
            self.count("select count(*) from identity.user_provisionings")
                .await,
            0
        );
        self.stop().await;
    }

    pub(crate) async fn count(&self, sql: &'static str) -> i64 {
        sqlx::query_scalar(sql).fetch_one(&self.pool).await.unwrap()
    }

    pub(crate) async fn execute(&self, sql: &'static str) {
        sqlx::query(sql).execute(&self.pool).await.unwrap();
    }

    /// Types and versions of the events about this aggregate, with their bodies.
    pub(crate) async fn events(&self, aggregate: &str) -> Vec<(String, i64, Vec<u8>)> {
        let sql = "select event_type, aggregate_version, body from identity.outbox
                   where aggregate_id::text = $1 order by position";
        let rows: Vec<(String, i64, Vec<u8>)> = sqlx::query_as(sql)
            .bind(aggregate)
            .fetch_all(&self.pool)
            .await
            .unwrap();
        let short = |name: String| name.trim_start_matches("guerdon.identity.v1.").to_owned();
        rows.into_iter()
            .map(|(name, version, body)| (short(name), version, body))
            .collect()
    }

    pub(crate) fn auth(&self, caller: Option<&Caller>) -> AuthServiceClient<Client> {
        AuthServiceClient::new(self.client(caller))
    }

    pub(crate) fn users(&self) -> UserServiceClient<Client> {
        UserServiceClient::new(self.client(Some(&admin())))
    }

    pub(crate) fn users_as(&self, caller: &Caller) -> UserServiceClient<Client> {
        UserServiceClient::new(self.client(Some(caller)))
    }

    pub(crate) fn tasks(&self) -> TaskServiceClient<Client> {
        TaskServiceClient::new(self.client(Some(&admin())))
    }

    pub(crate) fn tasks_as(&self, caller: &Caller) -> TaskServiceClient<Client> {
        TaskServiceClient::new(self.client(Some(caller)))
    }

    fn client(&self, caller: Option<&Caller>) -> Client {
        let token = caller.map(|caller| {
            let token = token(caller);
            ServiceToken::new(move || {
                let token = token.clone();
                Box::pin(async move { Ok(token) })
            })
        });
        client::connect("identity", &self.url, token).unwrap()
    }

    /// Creates a user with this email and nothing else said.
    pub(crate) async fn user(&self, email: &str) -> User {
        let created = self.users().create_user(new_user(email)).await;
        created.unwrap().into_inner().user.unwrap()
    }
}

pub(crate) fn new_user(email: &str) -> CreateUserRequest {
    CreateUserRequest {
        email: email.to_owned(),
        password: "Abcdefg1".to_owned(),
        ..CreateUserRequest::default()
    }
}

/// A token that is good now, whatever the service's clock shows.
fn token(caller: &Caller) -> String {
    TokenIssuer::new(&SEED).issue(Grant {
        caller,
        now: Clock::system().now(),
        lifetime: Duration::from_mins(10),
        id: "test",
    })
}

pub(crate) fn admin() -> Caller {
    caller(Kind::Service, "gateway", Role::Admin)
}

/// The end user of this id.
pub(crate) fn user(id: &str) -> Caller {
    caller(Kind::User, id, Role::User)
}

pub(crate) fn caller(kind: Kind, subject: &str, role: Role) -> Caller {
    Caller {
        kind,
        subject: subject.to_owned(),
        roles: vec![role],
    }
}

/// The request with an idempotency key, as the gateway sends it.
pub(crate) fn keyed<T>(message: T, key: &str, body_hash: &str) -> Request<T> {
    let mut request = Request::new(message);
    for (name, value) in [
        (idempotency::KEY, key),
        (idempotency::PATH, "POST /tests"),
        (idempotency::HASH, body_hash),
    ] {
        request.metadata_mut().insert(name, value.parse().unwrap());
    }
    request
}

pub(crate) fn refusal<T: std::fmt::Debug>(answer: Result<Response<T>, Status>) -> Failure {
    Failure::from_status(&answer.unwrap_err())
}

pub(crate) fn code<T: std::fmt::Debug>(answer: Result<Response<T>, Status>) -> Code {
    refusal(answer).code
}
