//! A running wallet-svc on a fresh database, and clients that speak as anyone.

use std::{fmt::Debug, time::Duration};

use clap::Parser;
use platform::{
    auth::{Auth, Caller, Grant, Kind, Role, ServiceToken, TokenIssuer, TokenVerifier},
    clock::Clock,
    error::{Code, Failure},
    grpc::client::{self, Client},
    idempotency,
    ids::Ids,
    service::{Application as _, Runtime},
};
use proto::wallet::v1::{
    self as wire, ledger_service_client::LedgerServiceClient,
    movement_service_client::MovementServiceClient, settings_service_client::SettingsServiceClient,
    transaction_service_client::TransactionServiceClient,
    wallet_service_client::WalletServiceClient,
};
use sqlx::{
    ConnectOptions as _, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status};
use wallet_svc::{WalletService, config::Config, verify};

/// How long anything may take that is waited for.
pub(crate) const SOON: Duration = Duration::from_mins(1);
const SEED: [u8; 32] = [7; 32];

#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    config: Config,
}

/// A service under test.
pub(crate) struct Bed {
    /// As a superuser, to look behind the service.
    pub(crate) pool: PgPool,
    server: PgConnectOptions,
    /// Settings beyond the usual.
    flags: Vec<String>,
    running: Running,
    /// One connection for all calls of the admin.
    admin: Client,
}

/// A process.
struct Running {
    url: String,
    stop: CancellationToken,
    task: JoinHandle<anyhow::Result<()>>,
}

impl Bed {
    pub(crate) async fn new(server: PgConnectOptions) -> Self {
        Self::with(server, &[]).await
    }

    /// A service with settings beyond the usual.
    pub(crate) async fn with(server: PgConnectOptions, flags: &[&str]) -> Self {
        let flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
        Self::over(open(&server).await, server, flags, 1).await
    }

    /// A service that reaches the server another way than the test does.
    pub(crate) async fn through(server: PgConnectOptions, way: PgConnectOptions) -> Self {
        Self::over(open(&server).await, way, Vec::new(), 1).await
    }

    async fn over(pool: PgPool, server: PgConnectOptions, flags: Vec<String>, seed: u64) -> Self {
        let running = run(&server, &flags, seed).await;
        let admin = connect(&running.url, &admin());
        Self {
            pool,
            server,
            flags,
            running,
            admin,
        }
    }

    /// Starts a process, after [`Bed::stop`] another one.
    pub(crate) async fn start(&mut self, seed: u64) {
        self.running = run(&self.server, &self.flags, seed).await;
        self.admin = connect(&self.running.url, &admin());
    }

    pub(crate) async fn stop(&mut self) {
        self.running.stop.cancel();
        (&mut self.running.task).await.unwrap().unwrap();
    }

    /// Another process on the same database, until the test ends.
    pub(crate) async fn replica(&self) -> Self {
        let flags = self.flags.clone();
        Self::over(self.pool.clone(), self.server.clone(), flags, 2).await
    }

    /// Stops, and fails if the ledger does not agree with itself or events have holes.
    pub(crate) async fn end(mut self) {
        self.stop().await;
        assert_eq!(verify::find_violations(&self.pool).await.unwrap(), []);
        let holes = self.count(
            "select count(*) from (
                 select from wallet.outbox group by aggregate_kind, aggregate_id
                 having max(aggregate_version) <> count(*)) holes",
        );
        assert_eq!(holes.await, 0);
    }

    pub(crate) async fn count(&self, sql: &'static str) -> i64 {
        sqlx::query_scalar(sql).fetch_one(&self.pool).await.unwrap()
    }

    /// Sessions that wait for a lock.
    pub(crate) async fn waiting(&self) -> i64 {
        let waiting = "select count(*) from pg_stat_activity
             where datname = current_database() and wait_event_type = 'Lock'";
        self.count(waiting).await
    }

    pub(crate) async fn execute(&self, sql: &'static str) {
        sqlx::query(sql).execute(&self.pool).await.unwrap();
    }

    /// Types of the events about this aggregate, in order.
    pub(crate) async fn events(&self, aggregate: &str) -> Vec<String> {
        let sql = "select replace(event_type, 'guerdon.wallet.v1.', '') from wallet.outbox
                   where aggregate_id::text = $1 order by position";
        let events = sqlx::query_scalar(sql).bind(aggregate);
        events.fetch_all(&self.pool).await.unwrap()
    }

    pub(crate) fn client(&self, caller: &Caller) -> Client {
        connect(&self.running.url, caller)
    }

    pub(crate) fn wallets(&self) -> WalletServiceClient<Client> {
        WalletServiceClient::new(self.admin.clone())
    }

    pub(crate) fn transactions(&self) -> TransactionServiceClient<Client> {
        TransactionServiceClient::new(self.admin.clone())
    }

    pub(crate) fn movements(&self) -> MovementServiceClient<Client> {
        MovementServiceClient::new(self.admin.clone())
    }

    pub(crate) fn ledger(&self) -> LedgerServiceClient<Client> {
        LedgerServiceClient::new(self.admin.clone())
    }

    pub(crate) async fn settings(&self) -> wire::Settings {
        let mut settings = SettingsServiceClient::new(self.admin.clone());
        let answer = settings.get_settings(wire::GetSettingsRequest {}).await;
        answer.unwrap().into_inner().settings.unwrap()
    }

    /// A new wallet's id.
    pub(crate) async fn wallet(&self) -> String {
        let request = wire::CreateWalletRequest::default();
        let answer = self.wallets().create_wallet(request).await;
        answer.unwrap().into_inner().wallet.unwrap().id
    }

    /// A new wallet with this much usd.
    pub(crate) async fn funded(&self, amount: &str) -> String {
        let wallet = self.wallet().await;
        self.fund(&wallet, amount, "usd").await;
        wallet
    }

    pub(crate) async fn fund(&self, wallet: &str, amount: &str, asset: &str) {
        let deposited = self.deposit(wallet, amount, asset).await.unwrap();
        self.confirm(&deposited.id).await.unwrap();
    }

    pub(crate) async fn deposit(
        &self,
        wallet: &str,
        amount: &str,
        asset: &str,
    ) -> Result<wire::Transaction, Failure> {
        let request = wire::CreateDepositRequest {
            amount: amount.to_owned(),
            asset_code: asset.to_owned(),
            code: "internal".to_owned(),
            data: "{}".to_owned(),
            destination_wallet_id: wallet.to_owned(),
            ..wire::CreateDepositRequest::default()
        };
        let answer = self.transactions().create_deposit(request).await;
        result(answer).map(|answer| answer.transaction.unwrap())
    }

    pub(crate) async fn transfer(
        &self,
        from: &str,
        to: &str,
        amount: &str,
        commit: bool,
    ) -> Result<wire::Transaction, Failure> {
        let request = transfer(from, to, amount, commit);
        let answer = self.transactions().create_transfer(request).await;
        result(answer).map(|answer| answer.transaction.unwrap())
    }

    pub(crate) async fn withdraw(
        &self,
        from: &str,
        amount: &str,
    ) -> Result<wire::Transaction, Failure> {
        let request = wire::CreateWithdrawalRequest {
            amount: amount.to_owned(),
            asset_code: "usd".to_owned(),
            code: "bank:wire".to_owned(),
            origin_wallet_id: from.to_owned(),
            ..wire::CreateWithdrawalRequest::default()
        };
        let answer = self.transactions().create_withdrawal(request).await;
        result(answer).map(|answer| answer.transaction.unwrap())
    }

    pub(crate) async fn approve(&self, id: &str) -> Result<wire::Transaction, Failure> {
        let request = wire::ApproveTransactionRequest { id: id.to_owned() };
        let answer = self.transactions().approve_transaction(request).await;
        result(answer).map(|answer| answer.transaction.unwrap())
    }

    pub(crate) async fn confirm(&self, id: &str) -> Result<wire::Transaction, Failure> {
        let request = wire::ConfirmTransactionRequest { id: id.to_owned() };
        let answer = self.transactions().confirm_transaction(request).await;
        result(answer).map(|answer| answer.transaction.unwrap())
    }

    pub(crate) async fn fail(&self, id: &str) -> Result<wire::Transaction, Failure> {
        let request = wire::FailTransactionRequest {
            id: id.to_owned(),
            reason: Some("\"no answer\"".to_owned()),
        };
        let answer = self.transactions().fail_transaction(request).await;
        result(answer).map(|answer| answer.transaction.unwrap())
    }

    pub(crate) async fn reject(&self, id: &str) -> Result<wire::Transaction, Failure> {
        let request = wire::RejectTransactionRequest {
            id: id.to_owned(),
            reason: None,
        };
        let answer = self.transactions().reject_transaction(request).await;
        result(answer).map(|answer| answer.transaction.unwrap())
    }

    pub(crate) async fn lock(&self, wallet: &str, locked: bool) {
        let request = wire::UpdateWalletRequest {
            id: wallet.to_owned(),
            locked: Some(locked),
            update_mask: Some(prost_types::FieldMask {
                paths: vec!["locked".to_owned()],
            }),
            ..wire::UpdateWalletRequest::default()
        };
        self.wallets().update_wallet(request).await.unwrap();
    }

    /// Gives the wallet an owner, of whom identity-svc need not know.
    pub(crate) async fn own(&self, wallet: &str, user: &str) {
        let sql = "with owned as (
                 update wallet.wallets set owner_id = $2::uuid where id = $1::uuid returning id)
             update wallet.balances set version = version + 1 from owned where wallet_id = owned.id";
        let own = sqlx::query(sql).bind(wallet).bind(user);
        own.execute(&self.pool).await.unwrap();
    }

    /// `asset amount available held incoming` of each entry, without trailing zeros.
    pub(crate) async fn balance(&self, wallet: &str) -> Vec<String> {
        let request = wire::GetWalletBalanceRequest {
            id: wallet.to_owned(),
            list: None,
            at: None,
        };
        let answer = self.wallets().get_wallet_balance(request).await;
        let balances = answer.unwrap().into_inner().balances;
        balances.iter().map(show).collect()
    }
}

async fn open(server: &PgConnectOptions) -> PgPool {
    let pool = PgPoolOptions::new().max_connections(2);
    pool.connect_with(server.clone()).await.unwrap()
}

fn connect(url: &str, caller: &Caller) -> Client {
    let token = token(caller);
    let token = ServiceToken::new(move || {
        let token = token.clone();
        Box::pin(async move { Ok(token) })
    });
    client::connect("wallet", url, Some(token)).unwrap()
}

async fn run(server: &PgConnectOptions, more: &[String], seed: u64) -> Running {
    let app = server.clone().username("guerdon_wallet_app");
    let app = app.to_url_lossy().to_string();
    let flags = [
        "wallet-svc",
        "--database-url",
        &app,
        "--listen",
        "127.0.0.1:0",
    ];
    let away = ["--nats-url", "nats://127.0.0.1:1", "--service-secret", "s"];
    let more = more.iter().map(String::as_str);
    let config = Flags::try_parse_from(flags.into_iter().chain(away).chain(more)).unwrap();
    let issuer = TokenIssuer::new(&SEED);
    let runtime = Runtime {
        ids: Ids::seeded(seed),
        auth: Some(Auth {
            verifier: TokenVerifier::fixed(&issuer.jwks_json()).unwrap(),
            token: ServiceToken::new(|| Box::pin(async { Ok(token(&admin())) })),
        }),
        ..Runtime::system()
    };
    let mut ready = runtime.readiness.subscribe();
    let service = WalletService::build(config.config, runtime).await.unwrap();
    let url = format!("http://{}", service.local_addr());
    let stop = CancellationToken::new();
    let task = tokio::spawn(service.run_until_stopped(stop.clone()));
    let ready = ready.wait_for(|ready| *ready);
    tokio::time::timeout(SOON, ready).await.unwrap().unwrap();
    Running { url, stop, task }
}

pub(crate) fn transfer(
    from: &str,
    to: &str,
    amount: &str,
    commit: bool,
) -> wire::CreateTransferRequest {
    wire::CreateTransferRequest {
        amount: amount.to_owned(),
        asset_code: "usd".to_owned(),
        code: "internal".to_owned(),
        origin_wallet_id: from.to_owned(),
        destination_wallet_id: to.to_owned(),
        commit,
        ..wire::CreateTransferRequest::default()
    }
}

/// A posting of an order's payment.
pub(crate) fn posting(from: &str, to: &str, amount: &str) -> wire::Posting {
    wire::Posting {
        asset_code: "usd".to_owned(),
        amount: amount.to_owned(),
        origin_wallet_id: from.to_owned(),
        destination_wallet_id: to.to_owned(),
        code: "pay".to_owned(),
        metadata: r#"{"orderId":"o-1"}"#.to_owned(),
        ..wire::Posting::default()
    }
}

pub(crate) fn show(entry: &wire::BalanceEntry) -> String {
    let short = |amount: &str| {
        let amount = amount.trim_end_matches('0').trim_end_matches('.');
        if amount.is_empty() {
            "0".to_owned()
        } else {
            amount.to_owned()
        }
    };
    format!(
        "{} {} {} {} {}",
        entry.asset_code,
        short(&entry.amount),
        short(&entry.available_amount),
        short(&entry.held_amount),
        short(&entry.incoming_amount)
    )
}

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

fn caller(kind: Kind, subject: &str, role: Role) -> Caller {
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

pub(crate) fn result<T: Debug>(answer: Result<Response<T>, Status>) -> Result<T, Failure> {
    let answer = answer.map(Response::into_inner);
    answer.map_err(|status| Failure::from_status(&status))
}

/// The code of a refusal, and the fields it names.
pub(crate) fn refused<T: Debug>(result: Result<T, Failure>) -> (Code, Vec<String>) {
    let failure = result.unwrap_err();
    let fields = failure.fields.into_iter().map(|field| field.field);
    (failure.code, fields.collect())
}
