//! A running orders-svc on a fresh database.

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
        Order, OrderStatus, PaymentStatus,
        order_line_fulfilment_service_client::OrderLineFulfilmentServiceClient,
        order_line_service_client::OrderLineServiceClient,
        order_service_client::OrderServiceClient,
    },
};
use sqlx::{ConnectOptions as _, PgPool, postgres::PgConnectOptions};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, transport::Channel};

use orders_svc::{Service, config::Config};

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
        let service = Service::build(config, runtime).await.unwrap();
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
        visible: Some(true),
        answer_errors: Vec::new(),
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
