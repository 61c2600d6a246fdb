//! Puts orders-svc together.

use std::net::SocketAddr;

use platform::{
    audit::AuditLog,
    grpc::server::Server,
    service::{Application, Backbone, Database, Runtime},
};
use proto::{
    audit::v1::audit_service_server::AuditServiceServer,
    orders::v1::{
        order_history_service_server::OrderHistoryServiceServer,
        order_line_fulfilment_service_server::OrderLineFulfilmentServiceServer,
        order_line_service_server::OrderLineServiceServer,
        order_service_server::OrderServiceServer,
    },
};
use tokio_util::sync::CancellationToken;

use crate::{
    MIGRATOR, SCHEMA,
    clients::Clients,
    config::Config,
    consumers::{WALLET, bonus_revoked::RecordBonusDebt},
    order::{
        grpc::{OrderGrpc, OrderHistoryGrpc, OrderLineGrpc},
        service::Orders,
    },
};

/// orders-svc, connected and bound.
#[derive(Debug)]
pub struct Service {
    server: Server,
    backbone: Backbone,
}

impl Service {
    /// Returns the address of the gRPC server.
    pub fn local_addr(&self) -> SocketAddr {
        self.server.local_addr()
    }
}

impl Application for Service {
    const NAME: &'static str = "orders-svc";
    const ABOUT: &'static str = "Orders, their lines, payments and fulfilment";
    const DATABASE: Option<Database> = Some(Database {
        schema: SCHEMA,
        migrator: &MIGRATOR,
        url_env: "ORDERS_DATABASE_URL",
        owner_url_env: "ORDERS_OWNER_DATABASE_URL",
    });
    type Config = Config;

    async fn build(config: Config, runtime: Runtime) -> anyhow::Result<Self> {
        let auth = runtime.auth(Self::NAME, &config.common, &config.service_secret)?;
        let mut backbone =
            Backbone::connect::<Self>(&config.database_url, &config.nats, &runtime).await?;
        let orders = Orders::new(
            backbone.pool(),
            Clients::connect(&config.common, &auth.token)?,
            runtime.clock.clone(),
            runtime.ids,
            config.shipping_amounts,
            &config.seller_name,
        );
        backbone.saga(orders.clone());
        backbone.consume(WALLET, "BonusRevoked", RecordBonusDebt(runtime.clock));

        let audit_log = AuditLog::new(backbone.pool(), "orders.audit_log a");
        let lines = OrderLineGrpc(orders.clone());
        let history = OrderHistoryGrpc(orders.clone());
        let server = Server::bind(
            config.listen,
            &config.grpc,
            &config.common.tls,
            auth.verifier,
            runtime.readiness,
        )
        .await?
        .add_service(AuditServiceServer::new(audit_log))
        .add_service(OrderServiceServer::new(OrderGrpc(orders)))
        .add_service(OrderHistoryServiceServer::new(history))
        .add_service(OrderLineServiceServer::new(lines.clone()))
        .add_service(OrderLineFulfilmentServiceServer::new(lines));
        Ok(Self { server, backbone })
    }

    async fn run_until_stopped(self, stop: CancellationToken) -> anyhow::Result<()> {
        self.backbone.run(self.server, stop).await
    }
}
