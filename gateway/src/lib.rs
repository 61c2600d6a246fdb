//! The REST edge: turns the public contract into gRPC, authenticates callers, and holds no data.
//!
//! [`router`] is the whole API as one table; [`resources`] has one file a resource.

mod access;
mod client_address;
mod clients;
mod config;
mod cors;
mod deprecation;
mod edge;
mod error;
mod extract;
mod host;
mod idempotency;
mod login_waits;
mod openapi;
mod pages;
mod rate_limit;
mod representation;
mod request_id;
mod resources;
mod respond;
mod router;
mod security_headers;
mod unread_body;

use std::{net::SocketAddr, ops::Deref, sync::Arc, time::Duration};

use anyhow::ensure;
use ipnet::IpNet;
use platform::{
    auth::Revocations,
    config::{Auth, SignUp},
    grpc::client,
    http::{self, Limits, Shutdown},
    ids::Ids,
    lifecycle::{Readiness, Supervisor},
    service::{Application, Runtime},
};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::{
    access::Gatekeeper, clients::Clients, cors::Origins, idempotency::BodyHashKey,
    login_waits::LoginWaits, rate_limit::RateLimits,
};

pub use config::Config;
pub use openapi::document as openapi_document;
pub use router::access_page;

/// State shared by handlers and middleware. It is one pointer: a request clones every layer around its
/// route, and each of them has the state.
#[derive(Debug, Clone)]
pub(crate) struct App(Arc<Shared>);

/// What [`App`] points to.
#[derive(Debug)]
pub(crate) struct Shared {
    clients: Arc<Clients>,
    gatekeeper: Gatekeeper,
    sign_up: SignUp,
    ids: Ids,
    body_hash_key: BodyHashKey,
    rate_limits: RateLimits,
    login_waits: LoginWaits,
    trusted_proxies: Arc<[IpNet]>,
    /// Ends the streams when the process stops.
    stopping: CancellationToken,
}

impl Deref for App {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

/// The gateway process.
#[derive(Debug)]
pub struct Gateway {
    app: App,
    revocations: Revocations,
    readiness: Readiness,
    listener: TcpListener,
    origins: Origins,
    deadline: Duration,
    limits: Limits,
}

impl Gateway {
    /// Returns the address of the listener.
    pub fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl Application for Gateway {
    const NAME: &'static str = "gateway";
    const ABOUT: &'static str = "The public REST API";
    type Config = Config;

    async fn build(config: Config, runtime: Runtime) -> anyhow::Result<Self> {
        let common = &config.common;
        let limits = config.limits();
        let origins = Origins::parse(&config.cors_origins)?;
        ensure!(
            common.auth != Auth::Open || origins == Origins::None,
            "CORS_ORIGINS with AUTH=open would let web pages act as admin"
        );
        let auth = runtime.auth(Self::NAME, common, &config.service_secret)?;
        auth.verifier.revocations().require(&runtime.readiness);
        let clients = Clients::connect(common)?;
        for (name, channel) in clients.channels() {
            let channel = channel.clone();
            runtime.readiness.require(name, move || {
                let channel = channel.clone();
                async move { channel.ready().await }
            });
        }
        let token = Some(auth.token.clone());
        let identity = &common.peers.identity_grpc_url;
        let identity = client::connect_with("identity", identity, &common.tls, token)?;
        let rate_limits = RateLimits::new(config.rate());
        let app = App(Arc::new(Shared {
            clients: Arc::new(clients),
            gatekeeper: Gatekeeper::new(common.auth, &auth, &identity, rate_limits.clone()),
            sign_up: config.sign_up,
            ids: runtime.ids,
            body_hash_key: BodyHashKey::derive(&config.service_secret.value),
            rate_limits,
            login_waits: LoginWaits::default(),
            trusted_proxies: config.trusted_proxies.into(),
            stopping: CancellationToken::new(),
        }));
        Ok(Self {
            app,
            revocations: auth.verifier.revocations().clone(),
            readiness: runtime.readiness,
            listener: TcpListener::bind(config.listen).await?,
            origins,
            deadline: Duration::from_secs(config.request_timeout.into()),
            limits,
        })
    }

    async fn run_until_stopped(self, stop: CancellationToken) -> anyhow::Result<()> {
        let tasks = Supervisor::new(stop.clone());
        self.revocations.start(&tasks);
        let shutdown = Shutdown {
            draining: self.readiness.draining(),
            stop: stop.clone(),
        };
        tasks.spawn("readiness", move |stop| {
            let readiness = self.readiness.clone();
            async move {
                readiness.watch(stop).await;
                Ok(())
            }
        });
        tracing::info!(address = %self.listener.local_addr()?, "gateway: listening");
        let service = edge::service(&self.app, self.origins, self.deadline);
        let stopping = self.app.stopping.clone();
        let serve = http::serve(self.listener, service, self.limits, shutdown);
        tokio::join!(serve, async move {
            stop.cancelled().await;
            stopping.cancel();
        });
        tasks.finish().await;
        Ok(())
    }
}
