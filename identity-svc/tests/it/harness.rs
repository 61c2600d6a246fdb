//! A running identity-svc on a fresh database, and clients with the token of any caller.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use clap::Parser;
use identity_svc::{
    SCHEMA, Service,
    config::Config,
    consumers::ReferralRewards,
    public_event::{EventRow, Recorder},
};
use platform::{
    auth::{Caller, Grant, Kind, Role, ServiceToken, TokenIssuer},
    clock::Clock,
    error::{Code, Failure},
    grpc::client::{self, Client},
    idempotency,
    ids::Ids,
    pg,
    sealing::SealingKey,
    service::{Application as _, Runtime},
    testing,
};
use proto::identity::v1::{
    CreateUserRequest, User, account_service_client::AccountServiceClient,
    api_key_service_client::ApiKeyServiceClient, auth_service_client::AuthServiceClient,
    event_service_client::EventServiceClient, invite_service_client::InviteServiceClient,
    revocation_service_client::RevocationServiceClient, task_service_client::TaskServiceClient,
    user_service_client::UserServiceClient, webhook_service_client::WebhookServiceClient,
};
use sqlx::PgPool;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status};
use uuid::Uuid;

use crate::fake_wallet::FakeWallet;

/// How long a test waits for a condition.
pub(crate) const TIMEOUT: Duration = Duration::from_mins(1);
pub(crate) const API_KEY: &str = "gk_bootstrap_0123456789abcdef";
/// The secret of orders-svc.
pub(crate) const SECRET: &str = "Orders-k3J9x0PqLr7sTz2Vb5Yw8Nc1Md4Fg6Ha";
const SEED: [u8; 32] = [7; 32];
/// The key that seals signing keys: 32 bytes in base64url.
pub(crate) const KEY_ENCRYPTION_KEY: &str = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc";

#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    config: Config,
}

/// A running service with its database.
pub(crate) struct TestApp {
    /// A superuser's, to read and change the tables.
    pub(crate) pool: PgPool,
    pub(crate) wallet: FakeWallet,
    pub(crate) clock: Clock,
    /// What the consumer of paid orders records by.
    pub(crate) rewards: Option<ReferralRewards>,
    /// The permits by which the service hashes passwords.
    hash_permits: Arc<Semaphore>,
    common_flags: Vec<String>,
    /// The seed of the next process's ids.
    seed: u64,
    url: String,
    stop: CancellationToken,
    running: JoinHandle<anyhow::Result<()>>,
}

impl TestApp {
    /// Records public events of these ids, types and data, as a consumer does.
    pub(crate) async fn record<'a>(
        &self,
        events: impl IntoIterator<Item = (Uuid, &'a str, String)>,
    ) {
        let rows = events.into_iter().map(|(id, event_type, data)| EventRow {
            id,
            event_type: event_type.to_owned(),
            before_type: None,
            data,
            occurred_at: self.clock.now(),
        });
        self.record_rows(&rows.collect::<Vec<_>>()).await;
    }

    /// Records the public events of these rows, as a consumer does.
    pub(crate) async fn record_rows(&self, rows: &[EventRow]) {
        let recorder = Recorder::new(self.clock.clone(), Ids::system(), Arc::default());
        let mut tx = pg::tx(&self.pool).await.unwrap();
        recorder.record_in_tx(&mut tx, rows).await.unwrap();
        tx.commit().await.unwrap();
    }
}

pub(crate) fn noon() -> DateTime<Utc> {
    "2026-01-31T12:00:00Z".parse().unwrap()
}

/// An event in the outbox.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) version: i64,
    pub(crate) body: Vec<u8>,
}

impl TestApp {
    /// Starts a service with a fixed clock and seeded ids, for snapshots.
    pub(crate) async fn start(pool: PgPool) -> Self {
        Self::start_with(
            pool,
            Clock::fixed(noon()),
            &["--bootstrap-api-key", API_KEY],
        )
        .await
    }

    pub(crate) async fn start_with(pool: PgPool, clock: Clock, flags: &[&str]) -> Self {
        let wallet = FakeWallet::default();
        let wallet_url = format!("http://{}", wallet.start().await);
        let database = testing::app_role_url(&pool.connect_options(), SCHEMA);
        #[expect(clippy::disallowed_methods, reason = "the address of the broker")]
        let nats = std::env::var("NATS_URL").expect("NATS_URL is not set");
        let common_flags = vec![
            "identity-svc".to_owned(),
            format!("--database-url={database}"),
            format!("--nats-url={nats}"),
            "--listen=127.0.0.1:0".to_owned(),
            format!("--wallet-grpc-url={wallet_url}"),
            format!("--orders-service-secret={SECRET}"),
            "--gateway-service-secret=Gateway-k3J9x0PqLr7sTz2Vb5Yw8Nc1Md4Fg6Ha".to_owned(),
            "--catalog-service-secret=Catalog-k3J9x0PqLr7sTz2Vb5Yw8Nc1Md4Fg6Ha".to_owned(),
            "--wallet-service-secret=Wallet-k3J9x0PqLr7sTz2Vb5Yw8Nc1Md4Fg6Ha".to_owned(),
            format!("--key-encryption-key={KEY_ENCRYPTION_KEY}"),
        ];
        store_signing_key(&pool).await;
        let mut app = Self {
            pool,
            wallet,
            clock,
            rewards: None,
            hash_permits: Arc::new(Semaphore::new(0)),
            common_flags,
            seed: 1,
            url: String::new(),
            stop: CancellationToken::new(),
            running: tokio::spawn(async { Ok(()) }),
        };
        app.start_process(flags).await;
        app
    }

    /// Starts another process, with the same database and wallet-svc.
    pub(crate) async fn start_another(&self, flags: &[&str]) -> Self {
        let mut app = Self {
            pool: self.pool.clone(),
            wallet: self.wallet.clone(),
            clock: self.clock.clone(),
            rewards: None,
            hash_permits: Arc::new(Semaphore::new(0)),
            common_flags: self.common_flags.clone(),
            // Far from the seeds of the first one's processes, or their ids would be the same.
            seed: self.seed + 1_000,
            url: String::new(),
            stop: CancellationToken::new(),
            running: tokio::spawn(async { Ok(()) }),
        };
        app.start_process(flags).await;
        app
    }

    /// Starts a process, also the next one after [`TestApp::stop`].
    pub(crate) async fn start_process(&mut self, flags: &[&str]) {
        let flags = flags.iter().map(|flag| (*flag).to_owned());
        let flags = self.common_flags.iter().cloned().chain(flags);
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
        self.rewards = Some(service.referral_rewards());
        self.hash_permits = service.hash_permits();
        self.stop = CancellationToken::new();
        self.running = tokio::spawn(service.run_until_stopped(self.stop.clone()));
        tokio::time::timeout(TIMEOUT, ready.wait_for(|ready| *ready))
            .await
            .unwrap()
            .unwrap();
    }

    /// Returns the flag that names the service's database.
    pub(crate) fn database_flag(&self) -> String {
        let mut flags = self.common_flags.iter();
        let flag = flags.find(|flag| flag.starts_with("--database-url="));
        flag.expect("the service has a database").clone()
    }

    pub(crate) async fn stop(&mut self) {
        self.stop.cancel();
        (&mut self.running).await.unwrap().unwrap();
    }

    /// Stops the process, and fails if work is left over.
    pub(crate) async fn finish(mut self) {
        testing::assert_no_leftovers(&self.pool, SCHEMA).await;
        for sagas in [
            "select count(*) from identity.user_provisionings",
            "select count(*) from identity.user_deletions",
            "select count(*) from identity.invites where reserved_by is not null",
        ] {
            assert_eq!(self.count(sagas).await, 0, "{sagas}");
        }
        self.stop().await;
    }

    /// Keeps the service from hashing passwords until the permits are dropped.
    pub(crate) async fn hold_hashes(&self) -> OwnedSemaphorePermit {
        let all = u32::try_from(self.hash_permits.available_permits()).unwrap();
        let permits = Arc::clone(&self.hash_permits).acquire_many_owned(all);
        permits.await.unwrap()
    }

    pub(crate) async fn count(&self, sql: &'static str) -> i64 {
        sqlx::query_scalar(sql).fetch_one(&self.pool).await.unwrap()
    }

    pub(crate) async fn execute(&self, sql: &'static str) {
        sqlx::query(sql).execute(&self.pool).await.unwrap();
    }

    /// Returns the only event of this name.
    pub(crate) async fn only_event(&self, name: &str) -> Event {
        let sql = "select aggregate_version, body from identity.outbox where event_type = $1";
        let (version, body) = sqlx::query_as(sql)
            .bind(format!("guerdon.identity.v1.{name}"))
            .fetch_one(&self.pool)
            .await
            .unwrap();
        Event {
            name: name.to_owned(),
            version,
            body,
        }
    }

    /// Returns the id of the invite with this code, by which its events name it.
    pub(crate) async fn id_of_invite(&self, code: &str) -> String {
        let sql = "select id::text from identity.invites where code = $1";
        let id = sqlx::query_scalar(sql).bind(code);
        id.fetch_one(&self.pool).await.unwrap()
    }

    /// Returns the events of an aggregate.
    pub(crate) async fn events(&self, aggregate: &str) -> Vec<Event> {
        let sql = "select event_type, aggregate_version, body from identity.outbox
                   where aggregate_id::text = $1 order by position";
        let rows: Vec<(String, i64, Vec<u8>)> = sqlx::query_as(sql)
            .bind(aggregate)
            .fetch_all(&self.pool)
            .await
            .unwrap();
        rows.into_iter()
            .map(|(event_type, version, body)| Event {
                name: event_type.replace("guerdon.identity.v1.", ""),
                version,
                body,
            })
            .collect()
    }

    pub(crate) fn auth(&self, caller: Option<&Caller>) -> AuthServiceClient<Client> {
        self.client(caller).service()
    }

    pub(crate) fn accounts_as(&self, caller: &Caller) -> AccountServiceClient<Client> {
        self.client(Some(caller)).service()
    }

    pub(crate) fn revocations_as(&self, caller: &Caller) -> RevocationServiceClient<Client> {
        self.client(Some(caller)).service()
    }

    pub(crate) fn api_keys_as(&self, caller: &Caller) -> ApiKeyServiceClient<Client> {
        self.client(Some(caller)).service()
    }

    pub(crate) fn events_as(&self, caller: &Caller) -> EventServiceClient<Client> {
        self.client(Some(caller)).service()
    }

    pub(crate) fn webhooks(&self) -> WebhookServiceClient<Client> {
        self.webhooks_as(&admin())
    }

    pub(crate) fn webhooks_as(&self, caller: &Caller) -> WebhookServiceClient<Client> {
        self.client(Some(caller)).service()
    }

    pub(crate) fn users(&self) -> UserServiceClient<Client> {
        self.users_as(&admin())
    }

    pub(crate) fn users_as(&self, caller: &Caller) -> UserServiceClient<Client> {
        self.client(Some(caller)).service()
    }

    /// Returns a client with this token.
    pub(crate) fn users_with(&self, token: String) -> UserServiceClient<Client> {
        let token = ServiceToken::new(move || Box::pin(std::future::ready(Ok(token.clone()))));
        client::connect("identity", &self.url, Some(token))
            .unwrap()
            .service()
    }

    pub(crate) fn invites(&self) -> InviteServiceClient<Client> {
        self.invites_as(&admin())
    }

    pub(crate) fn invites_as(&self, caller: &Caller) -> InviteServiceClient<Client> {
        self.client(Some(caller)).service()
    }

    pub(crate) fn tasks(&self) -> TaskServiceClient<Client> {
        self.tasks_as(&admin())
    }

    pub(crate) fn tasks_as(&self, caller: &Caller) -> TaskServiceClient<Client> {
        self.client(Some(caller)).service()
    }

    fn client(&self, caller: Option<&Caller>) -> Client {
        let token = caller.cloned().map(|caller| {
            ServiceToken::new(move || Box::pin(std::future::ready(Ok(issue_token(&caller)))))
        });
        client::connect("identity", &self.url, token).unwrap()
    }

    /// Creates a user with this email.
    pub(crate) async fn create_user(&self, email: &str) -> User {
        let created = self.users().create_user(new_user(email)).await;
        created.unwrap().into_inner().user.unwrap()
    }
}

/// Describes events as `1 UserCreated`.
pub(crate) fn published(events: &[Event]) -> Vec<String> {
    let events = events.iter();
    events
        .map(|Event { name, version, .. }| format!("{version} {name}"))
        .collect()
}

pub(crate) fn new_user(email: &str) -> CreateUserRequest {
    CreateUserRequest {
        email: email.to_owned(),
        password: "Abcdefg1".to_owned(),
        ..CreateUserRequest::default()
    }
}

/// Stores the key that tests sign with, as an earlier process would have done.
async fn store_signing_key(pool: &PgPool) {
    let key_id = TokenIssuer::new(&SEED).key_id().to_owned();
    let sealing = SealingKey::from_base64(&KEY_ENCRYPTION_KEY.into()).unwrap();
    let sealed = sealing.seal(&format!("signing key {key_id}"), &SEED);
    sqlx::query(
        "insert into identity.signing_keys (key_id, sealed_seed, signs_from)
         values ($1, $2, now()) on conflict do nothing",
    )
    .bind(key_id)
    .bind(sealed)
    .execute(pool)
    .await
    .unwrap();
}

/// Issues a token by the system's clock, whatever the service's clock is.
pub(crate) fn issue_token(caller: &Caller) -> String {
    TokenIssuer::new(&SEED).issue(Grant {
        caller,
        version: 0,
        now: Clock::system().now(),
        lifetime: Duration::from_mins(10),
        id: "test",
    })
}

pub(crate) fn admin() -> Caller {
    caller(Kind::Key, "admin", Role::Admin)
}

pub(crate) fn gateway() -> Caller {
    caller(Kind::Service, "gateway", Role::Admin)
}

/// Returns an end user as a caller.
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

/// Adds an idempotency key to a request, as the gateway does.
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

/// Returns the error of a response.
pub(crate) fn error<T: std::fmt::Debug>(response: Result<Response<T>, Status>) -> Failure {
    Failure::from_status(&response.unwrap_err())
}

/// Returns the error code of a response.
pub(crate) fn code<T: std::fmt::Debug>(response: Result<Response<T>, Status>) -> Code {
    error(response).code
}
