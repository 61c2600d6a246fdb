//! An orders-svc on a fresh database, with a fixed clock, seeded ids and fake peers.

use std::{net::SocketAddr, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use orders_svc::{SCHEMA, Service, config::Config};
use platform::{
    auth::{Auth, Caller, Grant, Kind, Role, ServiceToken, TokenIssuer, TokenVerifier},
    clock::Clock,
    ids::Ids,
    service::{Application as _, Runtime},
    testing::app_role_url,
};
use proto::{
    catalog::v1::{ProductSnapshot, QuoteLine},
    identity::v1::User,
    orders::v1::{CreateOrderRequest, NewOrderLine, Order},
    wallet::v1::Wallet,
};
use sqlx::PgPool;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};
use tonic::transport::Channel;

use crate::{client::Client, fakes::FakePeers};

/// The longest a test waits for a condition.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

/// The time of every test: 2026-01-31T10:00:00Z.
const NOW_MILLIS: i64 = 1_769_853_600_000;

pub(crate) struct TestApp {
    pub(crate) peers: FakePeers,
    /// As superuser, to read behind the API.
    pub(crate) pool: PgPool,
    /// A buyer whose primary wallet holds 100.00 usd.
    pub(crate) user: User,
    /// Address of all peers.
    pub(crate) peers_address: SocketAddr,
    clock: Clock,
    service_ids: Ids,
    test_ids: Ids,
    issuer: TokenIssuer,
    process: Option<Process>,
    /// Processes beside the newest one.
    others: Vec<Process>,
}

struct Process {
    channel: Channel,
    /// Stops the process with the test, which frees its database to be dropped.
    stop: DropGuard,
    task: JoinHandle<anyhow::Result<()>>,
}

impl TestApp {
    pub(crate) async fn start(pool: PgPool) -> Self {
        let peers = FakePeers::default();
        let mut app = Self {
            peers_address: peers.serve().await,
            user: User::default(),
            clock: Clock::fixed(now()),
            service_ids: Ids::seeded(1),
            test_ids: Ids::seeded(2),
            issuer: TokenIssuer::new(&[7; 32]),
            process: None,
            others: Vec::new(),
            peers,
            pool,
        };
        app.user = app.add_user();
        app.peers
            .set_balance(&app.user.primary_wallet_id, "usd", "100.00");
        app.start_process().await;
        app
    }

    /// Starts another process beside the newest one, on the same database. Returns the channel to that one.
    pub(crate) async fn start_second_process(&mut self) -> Channel {
        let first = self.process.take().unwrap();
        let channel = first.channel.clone();
        self.others.push(first);
        self.start_process().await;
        channel
    }

    /// Starts another process on the same database.
    pub(crate) async fn start_process(&mut self) {
        let token = self.token(&caller(Kind::Service, "orders-svc"));
        let auth = Auth {
            verifier: TokenVerifier::fixed(&self.issuer.jwks_json()).unwrap(),
            token: ServiceToken::new(move || {
                let token = token.clone();
                Box::pin(async move { Ok(token) })
            }),
        };
        let runtime = Runtime {
            clock: self.clock.clone(),
            ids: self.service_ids.clone(),
            auth: Some(auth),
            ..Runtime::system()
        };
        let service = Service::build(self.config(), runtime).await.unwrap();
        let url = format!("http://{}", service.local_addr());
        let stop = CancellationToken::new();
        self.process = Some(Process {
            channel: Channel::from_shared(url).unwrap().connect_lazy(),
            task: tokio::spawn(service.run_until_stopped(stop.clone())),
            stop: stop.drop_guard(),
        });
    }

    pub(crate) async fn stop_process(&mut self) {
        let process = self.process.take().unwrap();
        drop(process.channel);
        drop(process.stop);
        process.task.await.unwrap().unwrap();
    }

    fn config(&self) -> Config {
        let database = app_role_url(&self.pool.connect_options(), SCHEMA);
        let peers = format!("http://{}", self.peers_address);
        let arguments = [
            ("--listen", "127.0.0.1:0"),
            ("--service-secret", "k3J9x0PqLr7sTz2Vb5Yw8Nc1Md4Fg6Ha"),
            ("--database-url", &database),
            ("--catalog-grpc-url", &peers),
            ("--wallet-grpc-url", &peers),
            ("--identity-grpc-url", &peers),
            // No server: events stay in the outbox, where tests read them.
            ("--nats-url", "nats://127.0.0.1:9"),
            ("--seller-name", "Corner Shop"),
            ("--shipping-amounts", "usd=5.00,eur=4.505"),
        ];
        let arguments = arguments.iter().flat_map(|(name, value)| [*name, *value]);
        let command = <Config as clap::Args>::augment_args(clap::Command::new("test"));
        let matches = command.get_matches_from(["test"].into_iter().chain(arguments));
        <Config as clap::FromArgMatches>::from_arg_matches(&matches).unwrap()
    }

    /// Moves the service's clock on by a minute.
    pub(crate) fn advance_clock(&self) {
        self.clock.advance(TimeDelta::minutes(1));
    }

    pub(crate) fn channel(&self) -> Channel {
        self.process.as_ref().unwrap().channel.clone()
    }

    pub(crate) fn token(&self, caller: &Caller) -> String {
        self.issuer.issue(Grant {
            caller,
            version: 0,
            now: Clock::system().now(),
            lifetime: Duration::from_mins(10),
            id: "test",
        })
    }

    /// A client with the rights of an admin.
    pub(crate) fn admin(&self) -> Client<'_> {
        Client::new(self, Some(caller(Kind::Key, "admin")))
    }

    pub(crate) fn client_of(&self, user: &User) -> Client<'_> {
        let caller = Caller {
            kind: Kind::User,
            subject: user.id.clone(),
            roles: vec![Role::User],
        };
        Client::new(self, Some(caller))
    }

    /// A client without a token.
    pub(crate) fn anonymous(&self) -> Client<'_> {
        Client::new(self, None)
    }

    pub(crate) fn new_id(&self) -> String {
        self.test_ids.uuid().to_string()
    }

    /// Adds a user that may buy, with an empty primary wallet.
    pub(crate) fn add_user(&self) -> User {
        let user = User {
            id: self.new_id(),
            approved: true,
            ..User::default()
        };
        let user = User {
            primary_wallet_id: self.add_wallet(&user.id),
            ..user
        };
        let mut state = self.peers.state();
        state.users.insert(user.id.clone(), user.clone());
        user
    }

    /// Adds an empty wallet, and returns its id.
    pub(crate) fn add_wallet(&self, owner_id: &str) -> String {
        let id = self.new_id();
        let wallet = Wallet {
            id: id.clone(),
            owner_id: Some(owner_id.to_owned()),
            ..Wallet::default()
        };
        self.peers.state().wallets.insert(id.clone(), wallet);
        id
    }

    /// Adds a product with these amounts in usd, and returns its id.
    pub(crate) fn add_product(&self, price: &str, tax: &str, bonus: &str) -> String {
        self.add_quote(quote(price, tax, bonus))
    }

    pub(crate) fn add_quote(&self, mut quote: QuoteLine) -> String {
        let id = self.new_id();
        let product = quote.product.as_mut().unwrap();
        product.id.clone_from(&id);
        self.peers.state().products.insert(id.clone(), quote);
        id
    }

    /// A cart of the user.
    pub(crate) fn cart(&self, lines: &[(&str, u32)]) -> CreateOrderRequest {
        CreateOrderRequest {
            user_id: self.user.id.clone(),
            lines: lines
                .iter()
                .map(|(product_id, quantity)| NewOrderLine {
                    product_id: (*product_id).to_owned(),
                    quantity: Some(*quantity),
                    product_questions_result: None,
                })
                .collect(),
            ..CreateOrderRequest::default()
        }
    }

    /// Creates an unpaid order of one unit at this price, with a bonus of 3.00.
    pub(crate) async fn unpaid_order(&self, price: &str) -> Order {
        let product = self.add_product(price, "0", "3.00");
        let cart = self.cart(&[(&product, 1)]);
        self.admin().create(cart).await.unwrap()
    }

    /// Creates an order like [`TestApp::unpaid_order`] and pays it.
    pub(crate) async fn paid_order(&self, price: &str) -> Order {
        let order = self.unpaid_order(price).await;
        self.admin().pay(&order.id, None).await.unwrap()
    }

    /// The user's balance of an asset, in its primary wallet.
    pub(crate) fn balance(&self, asset_code: &str) -> String {
        self.peers.balance(&self.user.primary_wallet_id, asset_code)
    }

    pub(crate) async fn count(&self, table: &str) -> i64 {
        let sql = sqlx::AssertSqlSafe(format!("select count(*) from orders.{table}"));
        sqlx::query_scalar(sql).fetch_one(&self.pool).await.unwrap()
    }
}

pub(crate) fn now() -> DateTime<Utc> {
    DateTime::from_timestamp_millis(NOW_MILLIS).unwrap()
}

fn caller(kind: Kind, subject: &str) -> Caller {
    Caller {
        kind,
        subject: subject.into(),
        roles: vec![Role::Admin],
    }
}

/// A product in usd that anybody can buy in any quantity.
pub(crate) fn quote(price: &str, tax: &str, bonus: &str) -> QuoteLine {
    QuoteLine {
        product: Some(ProductSnapshot {
            name: "Lamp".into(),
            type_code: "physical".into(),
            custom_data: r#"{"n":1.10}"#.into(),
            metadata: "{}".into(),
            ..ProductSnapshot::default()
        }),
        asset_code: "usd".into(),
        asset_decimal_places: 2,
        unit_price: price.into(),
        tax_rate: Some("20.00000000".into()),
        unit_tax: tax.into(),
        unit_bonus: bonus.into(),
        available: true,
        allow_choosing_quantity: true,
        requires_identity: false,
        visible: Some(true),
        answer_errors: Vec::new(),
    }
}
