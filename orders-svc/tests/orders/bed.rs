//! A running orders-svc on a fresh database, and short words for what tests do with it.

use std::{net::SocketAddr, time::Duration};

use platform::{
    auth::{Auth, Caller, Grant, Kind, Role, ServiceToken, TokenIssuer, TokenVerifier},
    clock::Clock,
    error::Failure,
    ids::Ids,
    service::{Application as _, Runtime},
};
use proto::{
    catalog::v1::{ProductSnapshot, QuoteLine},
    identity::v1::User,
    orders::v1::{
        CancelOrderRequest, CreateOrderRequest, NewOrderLine, Order, OrderStatus, PayOrderRequest,
        PaymentStatus, order_line_fulfilment_service_client::OrderLineFulfilmentServiceClient,
        order_line_service_client::OrderLineServiceClient,
        order_service_client::OrderServiceClient,
    },
    wallet::v1::Wallet,
};
use sqlx::{ConnectOptions as _, PgPool, postgres::PgConnectOptions};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, transport::Channel};

use orders_svc::{OrdersService, config::Config};

use crate::fakes::World;

/// The longest a test waits for anything.
pub(crate) const SOON: Duration = Duration::from_secs(30);

pub(crate) struct Bed {
    pub(crate) world: World,
    pub(crate) pool: PgPool,
    /// Buys, with a primary wallet that holds 100.00 usd.
    pub(crate) user: User,
    options: PgConnectOptions,
    /// Where the other services are.
    pub(crate) peers: SocketAddr,
    issuer: TokenIssuer,
    running: Option<Running>,
}

struct Running {
    channel: Channel,
    stop: CancellationToken,
    task: JoinHandle<anyhow::Result<()>>,
}

impl Bed {
    pub(crate) async fn new(options: PgConnectOptions) -> Self {
        let world = World::default();
        let pool = PgPool::connect_lazy_with(options.clone());
        let mut bed = Self {
            peers: world.serve().await,
            user: User::default(),
            issuer: TokenIssuer::new(&[7; 32]),
            running: None,
            world,
            pool,
            options,
        };
        bed.user = bed.add_user();
        bed.world.fund(&bed.user.primary_wallet_id, "usd", "100.00");
        bed.start().await;
        bed
    }

    /// A new process on the same database.
    pub(crate) async fn start(&mut self) {
        let config = self.config();
        let token = self.token(&service());
        let auth = Auth {
            verifier: TokenVerifier::fixed(&self.issuer.jwks_json()).unwrap(),
            token: ServiceToken::new(move || {
                let token = token.clone();
                Box::pin(async move { Ok(token) })
            }),
        };
        let runtime = Runtime {
            auth: Some(auth),
            ..Runtime::system()
        };
        let service = OrdersService::build(config, runtime).await.unwrap();
        let url = format!("http://{}", service.local_addr());
        let stop = CancellationToken::new();
        self.running = Some(Running {
            channel: Channel::from_shared(url).unwrap().connect_lazy(),
            stop: stop.clone(),
            task: tokio::spawn(service.run_until_stopped(stop)),
        });
    }

    pub(crate) async fn stop(&mut self) {
        let running = self.running.take().unwrap();
        drop(running.channel);
        running.stop.cancel();
        running.task.await.unwrap().unwrap();
    }

    fn config(&self) -> Config {
        // The app role, whatever its password is here.
        let database = self.options.to_url_lossy().to_string();
        let database = format!("{database}&options=-c%20role%3Dguerdon_orders_app");
        let peers = format!("http://{}", self.peers);
        let arguments = [
            ("--listen", "127.0.0.1:0"),
            ("--service-secret", "secret"),
            ("--database-url", &database),
            ("--catalog-grpc-url", &peers),
            ("--wallet-grpc-url", &peers),
            ("--identity-grpc-url", &peers),
            // Nothing is there: events stay in the outbox, where tests read them.
            ("--nats-url", "nats://127.0.0.1:9"),
            ("--shipping-amounts", "usd=5.00"),
        ];
        let arguments = arguments.iter().flat_map(|(name, value)| [*name, *value]);
        let command = <Config as clap::Args>::augment_args(clap::Command::new("test"));
        let matches = command.get_matches_from(["test"].into_iter().chain(arguments));
        <Config as clap::FromArgMatches>::from_arg_matches(&matches).unwrap()
    }

    fn token(&self, caller: &Caller) -> String {
        self.issuer.issue(Grant {
            caller,
            now: Clock::system().now(),
            lifetime: Duration::from_mins(10),
            id: "test",
        })
    }

    /// A request of this caller.
    pub(crate) fn signed<T>(&self, caller: &Caller, message: T) -> Request<T> {
        let mut request = Request::new(message);
        let bearer = format!("Bearer {}", self.token(caller));
        request
            .metadata_mut()
            .insert("authorization", bearer.parse().unwrap());
        request
    }

    /// An admin's request.
    pub(crate) fn admin<T>(&self, message: T) -> Request<T> {
        self.signed(&service(), message)
    }

    pub(crate) fn orders(&self) -> OrderServiceClient<Channel> {
        OrderServiceClient::new(self.channel())
    }

    pub(crate) fn lines(&self) -> OrderLineServiceClient<Channel> {
        OrderLineServiceClient::new(self.channel())
    }

    pub(crate) fn fulfilment(&self) -> OrderLineFulfilmentServiceClient<Channel> {
        OrderLineFulfilmentServiceClient::new(self.channel())
    }

    fn channel(&self) -> Channel {
        self.running.as_ref().unwrap().channel.clone()
    }

    /// A user that may buy, with an empty wallet.
    pub(crate) fn add_user(&self) -> User {
        let user = User {
            id: new_id(),
            approved: true,
            primary_wallet_id: new_id(),
            ..User::default()
        };
        self.add_wallet(&user.primary_wallet_id, &user.id);
        let mut state = self.world.state();
        state.users.insert(user.id.clone(), user.clone());
        user
    }

    pub(crate) fn add_wallet(&self, id: &str, owner_id: &str) {
        let wallet = Wallet {
            id: id.to_owned(),
            owner_id: Some(owner_id.to_owned()),
            ..Wallet::default()
        };
        self.world.state().wallets.insert(id.to_owned(), wallet);
    }

    /// A product that costs this much net, in usd.
    pub(crate) fn add_product(&self, price: &str, tax: &str, bonus: &str) -> String {
        self.add_quote(quote(price, tax, bonus))
    }

    pub(crate) fn add_quote(&self, mut quote: QuoteLine) -> String {
        let id = new_id();
        let product = quote.product.as_mut().unwrap();
        product.id.clone_from(&id);
        self.world.state().products.insert(id.clone(), quote);
        id
    }

    /// A cart of the bed's user.
    pub(crate) fn cart(&self, lines: &[(&str, u32)]) -> CreateOrderRequest {
        let line = |(product_id, quantity): &(&str, u32)| NewOrderLine {
            product_id: (*product_id).to_owned(),
            quantity: Some(*quantity),
        };
        CreateOrderRequest {
            user_id: self.user.id.clone(),
            lines: lines.iter().map(line).collect(),
            ..CreateOrderRequest::default()
        }
    }

    /// An unpaid order of this amount, with a bonus of 3.00.
    pub(crate) async fn place(&self, price: &str) -> Order {
        let product = self.add_product(price, "0", "3.00");
        let cart = self.cart(&[(&product, 1)]);
        self.create(cart).await.unwrap()
    }

    pub(crate) async fn create(&self, cart: CreateOrderRequest) -> Result<Order, Failure> {
        let answer = self.orders().create_order(self.admin(cart)).await;
        order(answer, |answer| answer.order)
    }

    pub(crate) async fn get(&self, id: &str) -> Order {
        let request = proto::orders::v1::GetOrderRequest { id: id.to_owned() };
        let answer = self.orders().get_order(self.admin(request)).await;
        order(answer, |answer| answer.order).unwrap()
    }

    pub(crate) async fn pay(&self, id: &str, amount: Option<&str>) -> Result<Order, Failure> {
        let request = PayOrderRequest {
            id: id.to_owned(),
            amount: amount.map(str::to_owned),
            wallet_id: None,
        };
        let answer = self.orders().pay_order(self.admin(request)).await;
        order(answer, |answer| answer.order)
    }

    pub(crate) async fn cancel(&self, id: &str, refund: Option<&str>) -> Result<Order, Failure> {
        let request = CancelOrderRequest {
            id: id.to_owned(),
            reason: None,
            refund_amount: refund.map(str::to_owned),
        };
        let answer = self.orders().cancel_order(self.admin(request)).await;
        order(answer, |answer| answer.order)
    }

    /// What the buyer's primary wallet holds in usd.
    pub(crate) fn money(&self) -> String {
        self.world.balance(&self.user.primary_wallet_id, "usd")
    }

    /// The events about an order, in their order.
    pub(crate) async fn events(&self, order_id: &str) -> Vec<String> {
        let events: Vec<(String, i64)> = sqlx::query_as(
            "select event_type, aggregate_version from orders.outbox
             where aggregate_id = $1::uuid order by position",
        )
        .bind(order_id)
        .fetch_all(&self.pool)
        .await
        .unwrap();
        for (at, (_, version)) in (1..).zip(&events) {
            assert_eq!(*version, at, "versions have no hole");
        }
        let name = |(event, _): (String, i64)| event.rsplit('.').next().unwrap().to_owned();
        events.into_iter().map(name).collect()
    }

    /// The body of the newest event of this name about an order.
    pub(crate) async fn event<T: prost::Message + Default>(&self, order_id: &str, name: &str) -> T {
        let body: Vec<u8> = sqlx::query_scalar(
            "select body from orders.outbox where aggregate_id = $1::uuid and event_type = $2
             order by position desc limit 1",
        )
        .bind(order_id)
        .bind(format!("guerdon.orders.v1.{name}"))
        .fetch_one(&self.pool)
        .await
        .unwrap();
        T::decode(&*body).unwrap()
    }

    pub(crate) async fn count(&self, table: &str) -> i64 {
        let sql = sqlx::AssertSqlSafe(format!("select count(*) from orders.{table}"));
        sqlx::query_scalar(sql).fetch_one(&self.pool).await.unwrap()
    }

    /// Nothing is left under way.
    pub(crate) async fn assert_settled(&self) {
        assert_eq!(self.count("claims").await, 0);
        let in_progress = self.count("idempotency_keys where answer is null").await;
        assert_eq!(in_progress, 0);
        assert_eq!(self.count("orders where order_status = 'draft'").await, 0);
    }
}

pub(crate) fn new_id() -> String {
    Ids::system().uuid().to_string()
}

pub(crate) fn service() -> Caller {
    Caller {
        kind: Kind::Service,
        subject: "gateway".into(),
        roles: vec![Role::Admin],
    }
}

pub(crate) fn as_user(user: &User) -> Caller {
    Caller {
        kind: Kind::User,
        subject: user.id.clone(),
        roles: vec![Role::User],
    }
}

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
    }
}

/// The order of an answer, or the refusal.
pub(crate) fn order<T>(
    answer: Result<Response<T>, Status>,
    of: impl FnOnce(T) -> Option<Order>,
) -> Result<Order, Failure> {
    match answer {
        Ok(answer) => Ok(of(answer.into_inner()).unwrap()),
        Err(status) => Err(Failure::from_status(&status)),
    }
}

/// Where an order stands.
pub(crate) fn state(order: &Order) -> (OrderStatus, PaymentStatus, &str) {
    (
        order.order_status(),
        order.payment_status(),
        &order.paid_amount,
    )
}

/// A refusal by its code and fields.
pub(crate) fn refused<T: std::fmt::Debug>(answer: Result<T, Failure>) -> (String, Vec<String>) {
    let failure = answer.unwrap_err();
    let fields = failure.fields.iter().map(|field| field.field.clone());
    (failure.code.as_str().to_owned(), fields.collect())
}
