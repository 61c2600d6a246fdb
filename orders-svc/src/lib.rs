#![doc = include_str!("../README.md")]

pub mod clients;
pub mod config;
pub mod error;
pub mod order;

use std::net::SocketAddr;

use platform::{
    grpc::server::Server,
    lifecycle::Supervisor,
    messaging::{jetstream, relay},
    pg,
    service::{Application, Runtime, Schema},
};
use proto::orders::v1::{
    order_line_fulfilment_service_server::OrderLineFulfilmentServiceServer,
    order_line_service_server::OrderLineServiceServer, order_service_server::OrderServiceServer,
};
use secrecy::ExposeSecret as _;
use sqlx::{PgPool, migrate::Migrator};
use tokio_util::sync::CancellationToken;

use clients::Clients;
use config::Config;
use order::{
    grpc::{LineService, OrderService},
    service::Orders,
};

/// The schema this service owns.
pub const SCHEMA: pg::Schema = pg::Schema::new("orders");

/// Its migrations.
pub static MIGRATOR: Migrator = sqlx::migrate!();

/// The service, connected and bound.
#[derive(Debug)]
pub struct OrdersService {
    server: Server,
    orders: Orders,
    pool: PgPool,
    nats_url: String,
}

impl OrdersService {
    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.server.local_addr()
    }
}

impl Application for OrdersService {
    const NAME: &'static str = "orders-svc";
    const ABOUT: &'static str = "Orders, their lines, payments and fulfilment";
    const SCHEMA: Option<Schema> = Some(Schema {
        name: "orders",
        migrator: &MIGRATOR,
        url_env: "ORDERS_DATABASE_URL",
        owner_url_env: "ORDERS_OWNER_DATABASE_URL",
    });
    type Config = Config;

    async fn build(config: Config, runtime: Runtime) -> anyhow::Result<Self> {
        let auth = runtime.auth(Self::NAME, &config.common)?;
        let options = pg::Options::new(Self::NAME);
        let pool = pg::connect(config.database_url.expose_secret(), &options)?;
        let database = pool.clone();
        runtime.readiness.require("postgres", move || {
            let database = database.clone();
            async move {
                anyhow::ensure!(pg::is_reachable(&database).await, "no answer");
                Ok(())
            }
        });
        let orders = Orders::new(
            pool.clone(),
            Clients::connect(&config.common.peers, &auth.token)?,
            runtime.clock,
            runtime.ids,
            config.shipping_amounts,
        );
        let lines = LineService(orders.clone());
        let server = Server::bind(config.listen, auth.verifier, runtime.readiness)
            .await?
            .add_service(OrderServiceServer::new(OrderService(orders.clone())))
            .add_service(OrderLineServiceServer::new(lines.clone()))
            .add_service(OrderLineFulfilmentServiceServer::new(lines));
        let nats_url = config.nats.nats_url;
        Ok(Self {
            server,
            orders,
            pool,
            nats_url,
        })
    }

    async fn run_until_stopped(self, stop: CancellationToken) -> anyhow::Result<()> {
        pg::wait_until_fit(&self.pool).await?;
        let js = jetstream::connect(&self.nats_url, Self::NAME).await?;
        let tasks = Supervisor::new(stop.clone());
        let pool = self.pool;
        tasks.spawn("outbox-relay", move |stop| {
            let (pool, js) = (pool.clone(), js.clone());
            async move {
                relay::run(pool, SCHEMA, js, stop).await;
                Ok(())
            }
        });
        let orders = self.orders;
        tasks.spawn("order-recovery", move |stop| orders.clone().recover(stop));
        self.server.serve(stop).await?;
        tasks.finish().await;
        Ok(())
    }
}
