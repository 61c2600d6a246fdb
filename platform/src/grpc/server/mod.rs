//! Serves generated gRPC services behind one layer, with health, and reflection on request.
//!
//! ```no_run
//! # use platform::{auth::TokenVerifier, config, grpc::server::Server, lifecycle::{Readiness, Supervisor}};
//! # use proto::orders::v1::{
//! #     order_line_service_server::{OrderLineService, OrderLineServiceServer},
//! #     order_service_server::{OrderService, OrderServiceServer}};
//! # async fn serve(
//! #     listen: std::net::SocketAddr, settings: config::Grpc, tls: config::Tls,
//! #     verifier: TokenVerifier, readiness: Readiness,
//! #     orders: impl OrderService, lines: impl OrderLineService,
//! #     stop: tokio_util::sync::CancellationToken) -> anyhow::Result<()> {
//! let server = Server::bind(listen, &settings, &tls, verifier, readiness).await?
//!     .add_service(OrderServiceServer::new(orders))
//!     .add_service(OrderLineServiceServer::new(lines));
//! let address = server.local_addr();      // the real port if the configured one is 0
//! server.serve(stop).await?;              // returns when drained
//! # Ok(()) }
//! ```

mod boundary;
mod key_check;
mod lists;
mod shutdown;

use std::{convert::Infallible, net::SocketAddr, sync::Arc, time::Duration};

use anyhow::Context as _;
use axum::response::IntoResponse;
use http::Request;
use proto::services::Server as GeneratedServer;
use sqlx::PgPool;
use tokio::net::TcpListener;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tonic::{
    body::Body,
    server::NamedService,
    service::RoutesBuilder,
    transport::{ServerTlsConfig, server::TcpIncoming},
};
use tonic_health::{ServingStatus, server::HealthReporter};

use self::{
    boundary::Boundary,
    key_check::{KeyCheck, Records},
};
use super::{MAX_MESSAGE, MAX_REQUEST};
use crate::{
    auth::TokenVerifier,
    config,
    lifecycle::{Readiness, Supervisor},
    pg::Schema,
};

const KEEP_ALIVE: Duration = Duration::from_secs(20);
/// The most concurrent calls of one connection; a client waits with more.
const STREAMS_PER_CONNECTION: u32 = 256;

/// A generated service that the router takes.
pub trait Routable:
    GeneratedServer
    + NamedService
    + Clone
    + Send
    + Sync
    + 'static
    + tower::Service<
        Request<Body>,
        Response: IntoResponse,
        Error = Infallible,
        Future: Send + 'static,
    >
{
}

impl<S> Routable for S where
    S: GeneratedServer
        + NamedService
        + Clone
        + Send
        + Sync
        + 'static
        + tower::Service<
            Request<Body>,
            Response: IntoResponse,
            Error = Infallible,
            Future: Send + 'static,
        >
{
}

/// A bound gRPC server.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    routes: RoutesBuilder,
    reflection: bool,
    tls: Option<ServerTlsConfig>,
    names: Vec<&'static str>,
    verifier: TokenVerifier,
    keys: KeyCheck,
    readiness: Readiness,
}

impl Server {
    /// Binds the address. Requests are handled from [`Server::serve`] on.
    pub async fn bind(
        address: SocketAddr,
        settings: &config::Grpc,
        tls: &config::Tls,
        verifier: TokenVerifier,
        readiness: Readiness,
    ) -> anyhow::Result<Self> {
        let tls = tls.server(settings.tls_client_ca_file.as_deref())?;
        let listener = TcpListener::bind(address)
            .await
            .with_context(|| format!("cannot listen on {address}"))?;
        let address = listener.local_addr()?;
        verifier.revocations().require(&readiness);
        let (routes, names) = (RoutesBuilder::default(), vec![""]);
        Ok(Self {
            listener,
            address,
            routes,
            reflection: settings.grpc_reflection,
            tls,
            names,
            verifier,
            keys: KeyCheck(None),
            readiness,
        })
    }

    /// Checks the idempotency keys of refused requests against the records in a schema: a key that was used
    /// with another body is refused as `idempotency_key_reused`, whatever else is wrong.
    #[must_use]
    pub fn check_keys(self, pool: PgPool, schema: Schema) -> Self {
        let keys = KeyCheck(Some(Arc::new(Records { pool, schema })));
        Self { keys, ..self }
    }

    /// Returns the address that is bound.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Adds a generated service, whose requests are limited to [`MAX_REQUEST`].
    #[must_use]
    pub fn add_service<S: Routable>(self, service: S) -> Self {
        self.add_limited(service, MAX_REQUEST)
    }

    /// Adds a generated service that imports data, whose requests are limited to [`MAX_MESSAGE`].
    #[must_use]
    pub fn add_import_service<S: Routable>(self, service: S) -> Self {
        self.add_limited(service, MAX_MESSAGE)
    }

    fn add_limited<S: Routable>(mut self, service: S, max_request: usize) -> Self {
        self.names.push(S::NAME);
        self.routes.add_service(service.limited(max_request));
        self
    }

    /// Serves until `stop`, then drains: accepts no new connections, completes unary calls, also those
    /// whose client is gone, and ends streams. Reports readiness as the health of "" and of each
    /// service.
    pub async fn serve(mut self, stop: CancellationToken) -> anyhow::Result<()> {
        let (health, health_server) = tonic_health::server::health_reporter();
        report(&health, &self.names, ServingStatus::NotServing).await;
        self.routes.add_service(health_server);
        if self.reflection {
            let reflection = tonic_reflection::server::Builder::configure()
                .register_encoded_file_descriptor_set(proto::DESCRIPTORS)
                .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
                .build_v1()?;
            self.routes.add_service(reflection);
        }

        tracing::info!(address = %self.address, "listening");
        let tasks = TaskTracker::new();
        let revocations = self.verifier.revocations().clone();
        let boundary = Boundary::new(self.verifier, tasks.clone(), stop.clone());
        let incoming = TcpIncoming::from(self.listener).with_nodelay(Some(true));
        let mut builder = tonic::transport::Server::builder();
        if let Some(tls) = self.tls {
            builder = builder.tls_config(tls).context("the files of TLS")?;
        }
        let served = builder
            .http2_keepalive_interval(Some(KEEP_ALIVE))
            .max_concurrent_streams(STREAMS_PER_CONNECTION)
            .layer(boundary)
            .layer(self.keys)
            .add_routes(self.routes.routes())
            .serve_with_incoming_shutdown(incoming, stop.clone().cancelled_owned());
        let background = Supervisor::new(stop.clone());
        revocations.start(&background);
        let checked = self.readiness.clone().watch(stop.clone());
        let reported = report_readiness(self.readiness, health, self.names, stop);
        let (served, (), ()) = tokio::join!(served, checked, reported);
        background.finish().await;
        tasks.close();
        tasks.wait().await;
        served.context("the gRPC server failed")
    }
}

/// Reports readiness as health, until the process stops.
async fn report_readiness(
    readiness: Readiness,
    health: HealthReporter,
    names: Vec<&'static str>,
    stop: CancellationToken,
) {
    let mut ready = readiness.subscribe();
    while !stop.is_cancelled() {
        let status = if *ready.borrow_and_update() {
            ServingStatus::Serving
        } else {
            ServingStatus::NotServing
        };
        report(&health, &names, status).await;
        if stop.run_until_cancelled(ready.changed()).await.is_none() {
            break;
        }
    }
    report(&health, &names, ServingStatus::NotServing).await;
}

async fn report(health: &HealthReporter, names: &[&'static str], status: ServingStatus) {
    for name in names {
        health.set_service_status(name, status).await;
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}
