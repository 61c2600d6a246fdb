//! Runs catalog-svc on a fresh database, with a clock that stands still and ids that repeat.
//!
//! `TestApp` is the running service, [`clients`] holds one gRPC client per service and caller,
//! [`requests`] default bodies, and [`expect`] what tests compare: rejections with named fields.

mod clients;
mod expect;
mod requests;

use catalog_svc::{SCHEMA, Service, config::Config};
use clap::Parser;
use platform::{
    auth::{Auth, ServiceToken, TokenIssuer, TokenVerifier},
    clock::Clock,
    ids::Ids,
    service::{Application as _, Runtime},
    testing::app_role_url,
};
use proto::catalog::v1 as wire;
use sqlx::PgPool;
use tokio_util::sync::{CancellationToken, DropGuard};
use tonic::Status;

use crate::fake_wallet::FakeWallet;

pub(crate) use clients::{Clients, keyed};
pub(crate) use expect::{Rejection, invalid, rejection};
pub(crate) use requests::{empty, filter, mask, new_category, new_product, new_question, sort};

/// The time that every test starts at.
pub(crate) const NOW: &str = "2026-01-31T10:00:00Z";

/// A well-formed id that names nothing.
pub(crate) const UNKNOWN: &str = "0192abcd-0000-7000-8000-00000000000f";

const SEED: [u8; 32] = [7; 32];

#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    config: Config,
}

/// A running catalog-svc, its database and a fake wallet-svc.
pub(crate) struct TestApp {
    /// Connected as a superuser, to read and change what the API does not.
    pub(crate) pool: PgPool,
    pub(crate) clock: Clock,
    pub(crate) wallet: FakeWallet,
    /// Clients that call with an admin's API key.
    pub(crate) admin: Clients,
    /// Clients that call as an end user.
    pub(crate) user: Clients,
    /// Clients that call as orders-svc.
    pub(crate) service: Clients,
    pub(crate) anonymous: Clients,
    _stop: DropGuard,
}

impl TestApp {
    pub(crate) async fn new(pool: PgPool) -> Self {
        let wallet = FakeWallet::start().await;
        let clock = Clock::fixed(NOW.parse().unwrap());
        let runtime = Runtime {
            clock: clock.clone(),
            ids: Ids::seeded(1),
            auth: Some(auth()),
            ..Runtime::system()
        };
        let config = config(&pool, &wallet);
        let service = Service::build(config, runtime).await.unwrap();
        let url = format!("http://{}", service.local_addr());
        let stop = CancellationToken::new();
        tokio::spawn(service.run_until_stopped(stop.clone()));
        Self {
            pool,
            clock,
            wallet,
            admin: Clients::of_admin(&url),
            user: Clients::of_user(&url),
            service: Clients::of_service(&url),
            anonymous: Clients::anonymous(&url),
            _stop: stop.drop_guard(),
        }
    }

    pub(crate) async fn category(&self, title: &str) -> wire::Category {
        self.create_category(new_category(title)).await
    }

    pub(crate) async fn create_category(
        &self,
        request: wire::CreateCategoryRequest,
    ) -> wire::Category {
        let mut categories = self.admin.categories();
        let created = categories.create_category(request).await.unwrap();
        created.into_inner().category.unwrap()
    }

    pub(crate) async fn tax_rate(&self, rate: &str) -> wire::TaxRate {
        let request = wire::CreateTaxRateRequest {
            name: format!("{rate} percent"),
            rate: rate.into(),
        };
        let mut tax_rates = self.admin.tax_rates();
        let created = tax_rates.create_tax_rate(request).await.unwrap();
        created.into_inner().tax_rate.unwrap()
    }

    pub(crate) async fn product(&self, request: wire::CreateProductRequest) -> wire::Product {
        let mut products = self.admin.products();
        let created = products.create_product(request).await.unwrap();
        created.into_inner().product.unwrap()
    }

    pub(crate) async fn question(&self, request: wire::CreateQuestionRequest) -> wire::Question {
        let mut questions = self.admin.questions();
        let created = questions.create_question(request).await.unwrap();
        created.into_inner().question.unwrap()
    }

    /// Attaches a question to a product.
    pub(crate) async fn link(
        &self,
        product_id: &str,
        question_id: &str,
    ) -> Result<wire::ProductQuestion, Status> {
        let request = wire::CreateProductQuestionRequest {
            product_id: product_id.into(),
            question_id: question_id.into(),
        };
        let mut links = self.admin.product_questions();
        let created = links.create_product_question(request).await?;
        Ok(created.into_inner().product_question.unwrap())
    }

    pub(crate) async fn get_product(&self, id: &str) -> Result<wire::Product, Status> {
        let request = wire::GetProductRequest {
            id: id.into(),
            include: Vec::new(),
        };
        let read = self.admin.products().get_product(request).await?;
        Ok(read.into_inner().product.unwrap())
    }

    /// Returns the types of the events about this aggregate, in order; their versions count from 1.
    pub(crate) async fn event_types(&self, aggregate_id: &str) -> Vec<String> {
        let events: Vec<(String, i64)> = sqlx::query_as(
            "select replace(event_type, 'guerdon.catalog.v1.', ''), aggregate_version
             from catalog.outbox where aggregate_id = $1::text::uuid order by position",
        )
        .bind(aggregate_id)
        .fetch_all(&self.pool)
        .await
        .unwrap();
        let (types, versions): (Vec<_>, Vec<_>) = events.into_iter().unzip();
        assert!(versions.into_iter().eq((1..).take(types.len())));
        types
    }
}

/// Events stay in the outbox: nothing listens where NATS should be.
fn config(pool: &PgPool, wallet: &FakeWallet) -> Config {
    let database_url = app_role_url(&pool.connect_options(), SCHEMA);
    let wallet_url = format!("http://{}", wallet.address);
    let args = [
        "catalog-svc",
        "--service-secret=k3J9x0PqLr7sTz2Vb5Yw8Nc1Md4Fg6Ha",
        "--listen=127.0.0.1:0",
        "--nats-url=nats://127.0.0.1:1",
        "--media-base-url=https://media.test/",
        &format!("--database-url={database_url}"),
        &format!("--wallet-grpc-url={wallet_url}"),
    ];
    Flags::try_parse_from(args).unwrap().config
}

fn auth() -> Auth {
    let issuer = TokenIssuer::new(&SEED);
    Auth {
        verifier: TokenVerifier::fixed(&issuer.jwks_json()).unwrap(),
        token: ServiceToken::new(|| Box::pin(async { Ok(clients::service_token()) })),
    }
}
