#![doc = include_str!("../README.md")]

pub mod category;
pub mod clients;
pub mod config;
pub mod consumers;
pub mod context;
pub mod error;
pub mod fields;
pub mod media;
pub mod product;
pub mod product_question;
pub mod question;
pub mod quote;
pub mod tax_rate;
pub mod text;

use std::net::SocketAddr;

use async_nats::jetstream;
use futures::FutureExt as _;
use platform::{
    grpc::{client, server::Server},
    lifecycle::Supervisor,
    messaging::{
        self,
        inbox::{self, Consumer},
        relay,
    },
    pg,
    service::{Application, Runtime, Schema},
};
use proto::catalog::v1::{
    catalog_quote_service_server::CatalogQuoteServiceServer,
    category_service_server::CategoryServiceServer,
    product_question_service_server::ProductQuestionServiceServer,
    product_service_server::ProductServiceServer, question_service_server::QuestionServiceServer,
    tax_rate_service_server::TaxRateServiceServer,
};
use secrecy::ExposeSecret as _;
use sqlx::{PgPool, migrate::Migrator};
use tokio_util::sync::CancellationToken;

use crate::{
    category::Categories,
    clients::wallet::Wallet,
    config::Config,
    consumers::{WALLET, asset_changed::FollowAssets},
    context::{Context, SCHEMA},
    media::Media,
    product::Products,
    product_question::ProductQuestions,
    question::Questions,
    quote::Quotes,
    tax_rate::TaxRates,
};

/// The schema's migrations.
pub static MIGRATOR: Migrator = sqlx::migrate!();

/// The process.
#[derive(Debug)]
pub struct CatalogService {
    server: Server,
    pool: PgPool,
    jetstream: jetstream::Context,
    wallet: Wallet,
}

impl Application for CatalogService {
    const NAME: &'static str = "catalog-svc";
    const ABOUT: &'static str = "Products, their categories and taxes";
    const SCHEMA: Option<Schema> = Some(Schema {
        name: SCHEMA.name(),
        migrator: &MIGRATOR,
        url_env: "CATALOG_DATABASE_URL",
        owner_url_env: "CATALOG_OWNER_DATABASE_URL",
    });
    type Config = Config;

    async fn build(config: Config, runtime: Runtime) -> anyhow::Result<Self> {
        let auth = runtime.auth(Self::NAME, &config.common)?;
        let pool = pg::connect(
            config.database_url.expose_secret(),
            &pg::Options::new(Self::NAME),
        )?;
        let jetstream = messaging::jetstream::connect(&config.nats.nats_url, Self::NAME).await?;
        let peers = &config.common.peers;
        let wallet = client::connect("wallet", &peers.wallet_grpc_url, Some(auth.token))?;
        watch(&runtime, &pool);
        let server = Server::bind(config.listen, auth.verifier, runtime.readiness.clone()).await?;
        let context = Context {
            pool: pool.clone(),
            clock: runtime.clock,
            ids: runtime.ids,
        };
        let media = Media::new(&config.media_base_url);
        let wallet = Wallet::new(&wallet);
        Ok(Self {
            server: add_services(server, &context, wallet.clone(), media),
            pool,
            jetstream,
            wallet,
        })
    }

    async fn run_until_stopped(self, stop: CancellationToken) -> anyhow::Result<()> {
        let tasks = Supervisor::new(stop.clone());
        let (pool, jetstream) = (self.pool.clone(), self.jetstream.clone());
        tasks.spawn("relay", move |stop| {
            let relay = relay::run(pool.clone(), SCHEMA, jetstream.clone(), stop);
            relay.map(Ok)
        });
        let (pool, jetstream, wallet) = (self.pool, self.jetstream, self.wallet);
        tasks.spawn("asset-changed", move |stop| {
            let consumer = Consumer::new(Self::NAME, SCHEMA, WALLET, "AssetChanged");
            let follow = FollowAssets(wallet.clone());
            inbox::run(consumer, jetstream.clone(), pool.clone(), follow, stop).map(Ok)
        });
        self.server.serve(stop).await?;
        tasks.finish().await;
        Ok(())
    }
}

impl CatalogService {
    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.server.local_addr()
    }
}

/// Nothing works without the database; events wait for NATS in the outbox, and writes that need an
/// asset do with what wallet-svc last said.
fn watch(runtime: &Runtime, pool: &PgPool) {
    let pool = pool.clone();
    runtime.readiness.require("postgres", move || {
        let pool = pool.clone();
        async move { Ok(pg::wait_until_fit(&pool).await?) }
    });
}

fn add_services(server: Server, context: &Context, wallet: Wallet, media: Media) -> Server {
    let categories = category::grpc::Grpc {
        categories: Categories::new(context.clone()),
        media: media.clone(),
    };
    let tax_rates = tax_rate::grpc::Grpc {
        tax_rates: TaxRates::new(context.clone()),
    };
    let products = product::grpc::Grpc {
        products: Products::new(context.clone(), wallet),
        media: media.clone(),
    };
    let questions = question::grpc::Grpc {
        questions: Questions::new(context.clone()),
    };
    let product_questions = product_question::grpc::Grpc {
        links: ProductQuestions::new(context.clone()),
    };
    let quotes = quote::grpc::Grpc {
        quotes: Quotes::new(context.clone()),
        media,
    };
    server
        .add_service(CategoryServiceServer::new(categories))
        .add_service(TaxRateServiceServer::new(tax_rates))
        .add_service(ProductServiceServer::new(products))
        .add_service(QuestionServiceServer::new(questions))
        .add_service(ProductQuestionServiceServer::new(product_questions))
        .add_service(CatalogQuoteServiceServer::new(quotes))
}
