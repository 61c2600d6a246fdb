//! Puts catalog-svc together.

use std::net::SocketAddr;

use platform::{
    audit::AuditLog,
    grpc::{client, server::Server},
    service::{Application, Backbone, Database, Runtime},
};
use proto::{
    audit::v1::audit_service_server::AuditServiceServer,
    catalog::v1::{
        catalog_quote_service_server::CatalogQuoteServiceServer,
        category_service_server::CategoryServiceServer,
        product_question_service_server::ProductQuestionServiceServer,
        product_service_server::ProductServiceServer,
        question_service_server::QuestionServiceServer,
        tax_rate_service_server::TaxRateServiceServer,
    },
};
use tokio_util::sync::CancellationToken;

use crate::{
    MIGRATOR, SCHEMA,
    category::{Categories, grpc::CategoryGrpc},
    clients::wallet::Wallet,
    config::Config,
    consumers::{WALLET, asset_changed::FollowAssets},
    context::Context,
    media::Media,
    product::{Products, grpc::ProductGrpc},
    product_question::{ProductQuestions, grpc::ProductQuestionGrpc},
    question::{Questions, grpc::QuestionGrpc},
    quote::{Quotes, grpc::QuoteGrpc},
    tax_rate::{TaxRates, grpc::TaxRateGrpc},
};

/// catalog-svc, connected and bound.
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
    const NAME: &'static str = "catalog-svc";
    const ABOUT: &'static str = "Products, their categories and taxes";
    const DATABASE: Option<Database> = Some(Database {
        schema: SCHEMA,
        migrator: &MIGRATOR,
        url_env: "CATALOG_DATABASE_URL",
        owner_url_env: "CATALOG_OWNER_DATABASE_URL",
    });
    type Config = Config;

    async fn build(config: Config, runtime: Runtime) -> anyhow::Result<Self> {
        let auth = runtime.auth(Self::NAME, &config.common, &config.service_secret)?;
        let mut backbone =
            Backbone::connect::<Self>(&config.database_url, &config.nats, &runtime).await?;
        let (peers, tls) = (&config.common.peers, &config.common.tls);
        let wallet = client::connect_with("wallet", &peers.wallet_grpc_url, tls, Some(auth.token))?;
        let wallet = Wallet::new(&wallet);
        backbone.consume(WALLET, "AssetChanged", FollowAssets(wallet.clone()));

        let context = Context {
            pool: backbone.pool(),
            clock: runtime.clock,
            ids: runtime.ids,
        };
        let media = Media::new(&config.media_base_url);
        let server = Server::bind(
            config.listen,
            &config.grpc,
            &config.common.tls,
            auth.verifier,
            runtime.readiness,
        )
        .await?;
        let server = add_services(server, &context, wallet, &media);
        Ok(Self { server, backbone })
    }

    async fn run_until_stopped(self, stop: CancellationToken) -> anyhow::Result<()> {
        self.backbone.run(self.server, stop).await
    }
}

fn add_services(server: Server, context: &Context, wallet: Wallet, media: &Media) -> Server {
    let audit_log = AuditLog::new(context.pool.clone(), "catalog.audit_log a");
    let categories = Categories::new(context.clone(), media.clone());
    let products = Products::new(context.clone(), media.clone(), wallet);
    let questions = Questions::new(context.clone());
    let product_questions = ProductQuestions::new(context.clone());
    let tax_rates = TaxRates::new(context.clone());
    let quotes = Quotes::new(context.clone(), media.clone());
    server
        .add_service(AuditServiceServer::new(audit_log))
        .add_service(CategoryServiceServer::new(CategoryGrpc(categories)))
        .add_import_service(ProductServiceServer::new(ProductGrpc(products)))
        .add_service(QuestionServiceServer::new(QuestionGrpc(questions)))
        .add_service(ProductQuestionServiceServer::new(ProductQuestionGrpc(
            product_questions,
        )))
        .add_service(TaxRateServiceServer::new(TaxRateGrpc(tax_rates)))
        .add_service(CatalogQuoteServiceServer::new(QuoteGrpc(quotes)))
}
