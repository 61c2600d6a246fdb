//! The process: what it is made of, and how it runs and stops.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use platform::{
    auth::{ServiceToken, TokenIssuer, TokenVerifier},
    grpc::{client, server::Server},
    lifecycle::Supervisor,
    messaging::{jetstream, relay},
    pg,
    service::{Application, Runtime, Schema},
};
use proto::identity::v1::{
    auth_service_server::AuthServiceServer, task_service_server::TaskServiceServer,
    user_service_server::UserServiceServer,
};
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::PgPool;
use tokio_util::sync::CancellationToken;

use crate::{
    MIGRATOR, SCHEMA,
    auth::{Auth, api_key, grpc::AuthGrpc},
    clients::wallet::Wallets,
    config::Config,
    task::{Tasks, grpc::TaskGrpc},
    user::{Provisioning, Users, grpc::UserGrpc, provisioning::recovery},
};

/// identity-svc.
#[derive(Debug)]
pub struct Service {
    server: Server,
    pool: PgPool,
    auth: Auth,
    provisioning: Provisioning,
    bootstrap_key: Option<SecretString>,
    nats_url: String,
    /// Whether the bootstrap key is in place.
    prepared: Arc<AtomicBool>,
}

impl Application for Service {
    const NAME: &'static str = "identity-svc";
    const ABOUT: &'static str = "Users, credentials and tasks";
    const SCHEMA: Option<Schema> = Some(Schema {
        name: "identity",
        migrator: &MIGRATOR,
        url_env: "IDENTITY_DATABASE_URL",
        owner_url_env: "IDENTITY_OWNER_DATABASE_URL",
    });
    type Config = Config;

    async fn build(config: Config, runtime: Runtime) -> anyhow::Result<Self> {
        if let Some(key) = &config.bootstrap_api_key {
            api_key::check_configured(key)?;
        }
        let Runtime { clock, ids, .. } = runtime.clone();
        let database = pg::Options::new(Self::NAME);
        let pool = pg::connect(config.database_url.expose_secret(), &database)?;
        let issuer = Arc::new(TokenIssuer::from_base64(&config.signing_key)?);
        let verifier = TokenVerifier::fixed(&issuer.jwks_json())?;
        let secret = config.common.service_secret.clone();
        let auth = Auth::new(pool.clone(), issuer, secret, clock.clone(), ids.clone());

        let wallet_url = &config.common.peers.wallet_grpc_url;
        let wallet = client::connect("wallet", wallet_url, Some(own_token(auth.clone())))?;
        let wallets = Wallets::new(&wallet);
        let users = Users::new(pool.clone(), clock.clone(), ids.clone());
        let provisioning =
            Provisioning::new(pool.clone(), wallets.clone(), clock.clone(), ids.clone());
        let tasks = Tasks::new(pool.clone(), wallets, config.media_base_url, clock, ids);

        let prepared = Arc::new(AtomicBool::new(false));
        require(&runtime, pool.clone(), Arc::clone(&prepared));
        let user = UserGrpc {
            users,
            provisioning: provisioning.clone(),
        };
        let server = Server::bind(config.listen, verifier, runtime.readiness)
            .await?
            .add_service(AuthServiceServer::new(AuthGrpc(auth.clone())))
            .add_service(UserServiceServer::new(user))
            .add_service(TaskServiceServer::new(TaskGrpc(tasks)));
        Ok(Self {
            server,
            pool,
            auth,
            provisioning,
            bootstrap_key: config.bootstrap_api_key,
            nats_url: config.nats.nats_url,
            prepared,
        })
    }

    async fn run_until_stopped(self, stop: CancellationToken) -> anyhow::Result<()> {
        let js = jetstream::connect(&self.nats_url, Self::NAME).await?;
        let tasks = Supervisor::new(stop.clone());
        let pool = self.pool.clone();
        tasks.spawn("relay", move |stop| {
            let (pool, js) = (pool.clone(), js.clone());
            async move {
                relay::run(pool, SCHEMA, js, stop).await;
                Ok(())
            }
        });
        let provisioning = self.provisioning;
        tasks.spawn("user-recovery", move |stop| {
            let recovery = recovery::run(provisioning.clone(), stop);
            async move { Ok(recovery.await?) }
        });
        let preparing = prepare(&self.pool, &self.auth, self.bootstrap_key.as_ref());
        let preparing = async {
            let Some(done) = stop.run_until_cancelled(preparing).await else {
                return Ok(());
            };
            self.prepared.store(true, Ordering::Release);
            done
        };
        tokio::try_join!(self.server.serve(stop.clone()), preparing)?;
        tasks.finish().await;
        self.pool.close().await;
        Ok(())
    }
}

impl Service {
    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.server.local_addr()
    }
}

/// Signs its own tokens: it need not ask itself for one.
fn own_token(auth: Auth) -> ServiceToken {
    ServiceToken::new(move || {
        let issued = auth.own_token(Service::NAME);
        Box::pin(async move { Ok(issued.token) })
    })
}

/// Not ready without Postgres, nor before the bootstrap key is in place.
fn require(runtime: &Runtime, pool: PgPool, prepared: Arc<AtomicBool>) {
    runtime.readiness.require("postgres", move || {
        let (pool, prepared) = (pool.clone(), Arc::clone(&prepared));
        async move {
            anyhow::ensure!(prepared.load(Ordering::Acquire), "not prepared yet");
            anyhow::ensure!(pg::is_reachable(&pool).await, "does not answer");
            Ok(())
        }
    });
}

async fn prepare(pool: &PgPool, auth: &Auth, key: Option<&SecretString>) -> anyhow::Result<()> {
    pg::wait_until_fit(pool).await?;
    Ok(auth.set_bootstrap_key(key).await?)
}
