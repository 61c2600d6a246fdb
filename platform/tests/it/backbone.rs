//! The life cycle of a service.

use std::sync::{Arc, Mutex};

use platform::{
    auth::{TokenIssuer, TokenVerifier},
    config::{self, Common, Nats, Settings},
    grpc::server::Server,
    messaging::outbox::{self, Aggregate, Message},
    pg::{self, Schema},
    service::{Application, Backbone, Database, Runtime},
    testing::{eventually, messaging_tables},
};
use prost_types::Timestamp;
use secrecy::SecretString;
use sqlx::{
    ConnectOptions as _, PgPool,
    migrate::Migrator,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::harness::{TIMEOUT, env, uuid};

const SCHEMA: Schema = Schema::new("backbone");
static MIGRATOR: Migrator = Migrator::DEFAULT;
const NO_NATS: &str = "nats://127.0.0.1:1";

struct Service {
    server: Server,
    backbone: Backbone,
}

#[derive(clap::Args)]
struct Config {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    nats: Nats,
    #[arg(long)]
    database_url: SecretString,
}

impl Settings for Config {
    fn common(&self) -> &Common {
        &self.common
    }

    fn listen(&self) -> std::net::SocketAddr {
        ([127, 0, 0, 1], 0).into()
    }
}

impl Application for Service {
    const NAME: &'static str = "backbone-svc";
    const ABOUT: &'static str = "A service for tests";
    const DATABASE: Option<Database> = Some(Database {
        schema: SCHEMA,
        migrator: &MIGRATOR,
        url_env: "BACKBONE_DATABASE_URL",
        owner_url_env: "BACKBONE_OWNER_DATABASE_URL",
    });
    type Config = Config;

    async fn build(config: Config, runtime: Runtime) -> anyhow::Result<Self> {
        let backbone =
            Backbone::connect::<Self>(&config.database_url, &config.nats, &runtime).await?;
        let issuer = TokenIssuer::new(&[7; 32]);
        let verifier = TokenVerifier::fixed(&issuer.jwks_json())?;
        let server = Server::bind(
            config.listen(),
            &config::Grpc::default(),
            &config::Tls::default(),
            verifier,
            runtime.readiness,
        )
        .await?;
        Ok(Self { server, backbone })
    }

    async fn run_until_stopped(self, stop: CancellationToken) -> anyhow::Result<()> {
        self.backbone.run(self.server, stop).await
    }
}

async fn build(options: &PgConnectOptions, nats_url: &str) -> (Service, Runtime) {
    platform::testing::trace_process();
    let database_url = options.to_url_lossy().to_string();
    let args = ["--database-url", &database_url, "--nats-url", nats_url];
    let runtime = Runtime::system();
    let config = config::from_args(&args).unwrap();
    let service = Service::build(config, runtime.clone()).await.unwrap();
    let tables = messaging_tables(SCHEMA);
    let ddl = sqlx::AssertSqlSafe(format!("create schema backbone; {tables}"));
    let pool = service.backbone.pool();
    sqlx::raw_sql(ddl).execute(&pool).await.unwrap();
    (service, runtime)
}

async fn append(pool: &PgPool) {
    let aggregate = Aggregate {
        kind: "thing",
        id: uuid(),
        version: 1,
    };
    let event = Message::new(
        SCHEMA,
        uuid(),
        "ThingDone",
        aggregate,
        &Timestamp::default(),
    );
    let mut tx = pg::tx(pool).await.unwrap();
    outbox::append_in_tx(&mut tx, SCHEMA, [event])
        .await
        .unwrap();
    tx.commit().await.unwrap();
}

async fn pending(pool: &PgPool) -> i64 {
    sqlx::query_scalar("select count(*) from backbone.outbox_pending")
        .fetch_one(pool)
        .await
        .unwrap()
}

#[sqlx::test(migrations = false)]
async fn a_service_ends_workers_then_essential_tasks_then_the_relay(
    observer: PgPoolOptions,
    options: PgConnectOptions,
) {
    let (mut service, runtime) = build(&options, &env("NATS_URL")).await;
    let ended = Arc::new(Mutex::new(Vec::new()));
    let (pool, log) = (service.backbone.pool(), Arc::clone(&ended));
    service
        .backbone
        .essential("engine", move |stop| async move {
            stop.cancelled().await;
            append(&pool).await;
            log.lock().unwrap().push("engine");
            Ok(())
        });
    let (pool, log) = (service.backbone.pool(), Arc::clone(&ended));
    service.backbone.worker("worker", move |stop| {
        let (pool, log) = (pool.clone(), Arc::clone(&log));
        async move {
            stop.cancelled().await;
            append(&pool).await;
            log.lock().unwrap().push("worker");
            Ok(())
        }
    });
    let pool = service.backbone.pool();
    let stop = CancellationToken::new();
    let running = tokio::spawn(service.run_until_stopped(stop.clone()));
    let mut ready = runtime.readiness.subscribe();
    let ready = ready.wait_for(|ready| *ready);
    timeout(TIMEOUT, ready).await.unwrap().unwrap();
    append(&pool).await;
    eventually("the relay publishes", TIMEOUT, async || {
        pending(&pool).await == 0
    })
    .await;

    stop.cancel();
    timeout(TIMEOUT, running).await.unwrap().unwrap().unwrap();
    assert_eq!(*ended.lock().unwrap(), ["worker", "engine"]);
    assert!(pool.is_closed());
    let observer = observer.connect_with(options).await.unwrap();
    assert_eq!(pending(&observer).await, 0, "the last events are published");
}

#[sqlx::test(migrations = false)]
async fn an_essential_task_that_ends_early_stops_the_service(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let (mut service, _) = build(&options, NO_NATS).await;
    service.backbone.essential("engine", |_| async { Ok(()) });
    let run = service.run_until_stopped(CancellationToken::new());
    let error = timeout(TIMEOUT, run).await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "task engine ended before it was stopped");
}

#[sqlx::test(migrations = false)]
async fn an_essential_task_that_panics_stops_the_service(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let (mut service, _) = build(&options, NO_NATS).await;
    service
        .backbone
        .essential("engine", |_| async { panic!("a bug") });
    let run = service.run_until_stopped(CancellationToken::new());
    let error = timeout(TIMEOUT, run).await.unwrap().unwrap_err();
    assert!(error.to_string().contains("panicked"), "{error}");
}
