//! One catalog-svc on a fresh database, with a clock that stands still and ids that repeat.

use std::time::Duration;

use catalog_svc::{Service, config::Config};
use chrono::{DateTime, Utc};
use clap::{Args as _, Command, FromArgMatches as _};
use platform::{
    auth::{Auth, Caller, Grant, Kind, Role, ServiceToken, TokenIssuer, TokenVerifier},
    clock::Clock,
    error::{Code, Failure},
    grpc::client::{self, Client},
    idempotency,
    ids::Ids,
    service::{Application as _, Runtime},
};
use proto::catalog::v1::{
    self as wire, catalog_quote_service_client::CatalogQuoteServiceClient,
    category_service_client::CategoryServiceClient,
    product_question_service_client::ProductQuestionServiceClient,
    product_service_client::ProductServiceClient, question_service_client::QuestionServiceClient,
    tax_rate_service_client::TaxRateServiceClient,
};
use sqlx::{
    PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use tokio_util::sync::{CancellationToken, DropGuard};
use tonic::{Request, Response, Status};

use crate::fake_wallet::FakeWallet;

/// The time that every test starts at.
pub const NOW: &str = "2026-01-31T10:00:00Z";

/// A running catalog-svc and its clients.
pub struct Catalog {
    pub categories: CategoryServiceClient<Client>,
    pub products: ProductServiceClient<Client>,
    pub tax_rates: TaxRateServiceClient<Client>,
    pub quotes: CatalogQuoteServiceClient<Client>,
    pub questions: QuestionServiceClient<Client>,
    pub links: ProductQuestionServiceClient<Client>,
    pub wallet: FakeWallet,
    pub clock: Clock,
    /// As superuser, to look behind the API.
    pub pool: PgPool,
    _stop: DropGuard,
}

impl Catalog {
    pub async fn start(pool: PgPoolOptions, server: PgConnectOptions) -> Self {
        let wallet = FakeWallet::start().await;
        let clock = Clock::fixed(now());
        let runtime = Runtime {
            clock: clock.clone(),
            ids: Ids::seeded(1),
            auth: Some(auth()),
            ..Runtime::system()
        };
        let service = Service::build(config(&server, &wallet), runtime)
            .await
            .unwrap();
        let client = client::connect("catalog", &format!("http://{}", service.local_addr()), None);
        let client = client.unwrap();
        let stop = CancellationToken::new();
        tokio::spawn(service.run_until_stopped(stop.clone()));
        Self {
            categories: CategoryServiceClient::new(client.clone()),
            products: ProductServiceClient::new(client.clone()),
            tax_rates: TaxRateServiceClient::new(client.clone()),
            questions: QuestionServiceClient::new(client.clone()),
            links: ProductQuestionServiceClient::new(client.clone()),
            quotes: CatalogQuoteServiceClient::new(client),
            wallet,
            clock,
            pool: pool.connect_with(server).await.unwrap(),
            _stop: stop.drop_guard(),
        }
    }

    pub async fn category(&mut self, title: &str) -> wire::Category {
        let request = wire::CreateCategoryRequest {
            title: title.into(),
            ..wire::CreateCategoryRequest::default()
        };
        let created = self
            .categories
            .create_category(admin(request))
            .await
            .unwrap();
        created.into_inner().category.unwrap()
    }

    pub async fn tax_rate(&mut self, rate: &str) -> wire::TaxRate {
        let request = wire::CreateTaxRateRequest {
            name: format!("{rate} percent"),
            rate: rate.into(),
        };
        let created = self
            .tax_rates
            .create_tax_rate(admin(request))
            .await
            .unwrap();
        created.into_inner().tax_rate.unwrap()
    }

    /// A product; see [`new_product`] for the request to change.
    pub async fn product(&mut self, request: wire::CreateProductRequest) -> wire::Product {
        let created = self.products.create_product(admin(request)).await.unwrap();
        created.into_inner().product.unwrap()
    }

    /// A text question that may be left unanswered; see [`new_question`] for the request to change.
    pub async fn question(&mut self, request: wire::CreateQuestionRequest) -> wire::Question {
        let created = self
            .questions
            .create_question(admin(request))
            .await
            .unwrap();
        created.into_inner().question.unwrap()
    }

    pub async fn link(
        &mut self,
        product_id: &str,
        question_id: &str,
    ) -> Result<wire::ProductQuestion, Status> {
        let request = wire::CreateProductQuestionRequest {
            product_id: product_id.into(),
            question_id: question_id.into(),
        };
        let answer = self.links.create_product_question(admin(request)).await?;
        Ok(answer.into_inner().product_question.unwrap())
    }

    pub async fn get_product(&mut self, id: &str) -> Result<wire::Product, Status> {
        let request = wire::GetProductRequest {
            id: id.into(),
            include: Vec::new(),
        };
        let answer = self.products.get_product(admin(request)).await?;
        Ok(answer.into_inner().product.unwrap())
    }

    /// The events of an aggregate, oldest first: type and version.
    pub async fn events(&self, aggregate_id: &str) -> Vec<(String, i64)> {
        sqlx::query_as(
            "select replace(event_type, 'guerdon.catalog.v1.', ''), aggregate_version
             from catalog.outbox where aggregate_id = $1::text::uuid order by position",
        )
        .bind(aggregate_id)
        .fetch_all(&self.pool)
        .await
        .unwrap()
    }
}

/// A text question that may be left unanswered.
pub fn new_question(title: &str) -> wire::CreateQuestionRequest {
    wire::CreateQuestionRequest {
        title: title.into(),
        type_code: "text".into(),
        product_type_code: "physical".into(),
        ..wire::CreateQuestionRequest::default()
    }
}

/// A product of 10.00 usd.
pub fn new_product(category: &wire::Category) -> wire::CreateProductRequest {
    wire::CreateProductRequest {
        category_id: category.id.clone(),
        price: "10.00".into(),
        ..wire::CreateProductRequest::default()
    }
}

/// A request of an admin's API key.
pub fn admin<T>(message: T) -> Request<T> {
    request_of(Kind::Key, &[Role::Admin], message)
}

/// An admin's request with an idempotency key.
pub fn keyed<T>(message: T, path: &str, hash: &str) -> Request<T> {
    let mut request = admin(message);
    for (name, value) in [
        (idempotency::KEY, "k"),
        (idempotency::PATH, path),
        (idempotency::HASH, hash),
    ] {
        request.metadata_mut().insert(name, value.parse().unwrap());
    }
    request
}

/// A request of an end user.
pub fn user<T>(message: T) -> Request<T> {
    request_of(Kind::User, &[Role::User], message)
}

/// A request of orders-svc.
pub fn service<T>(message: T) -> Request<T> {
    request_of(Kind::Service, &[], message)
}

/// What the refusal says: its code, and each field with what is wrong with it.
pub fn refusal<T: std::fmt::Debug>(
    answer: Result<Response<T>, Status>,
) -> (Code, Vec<(String, &'static str)>) {
    let failure = Failure::from_status(&answer.unwrap_err());
    let fields = failure.fields.into_iter();
    (
        failure.code,
        fields
            .map(|field| (field.field, field.code.as_str()))
            .collect(),
    )
}

/// The same for one field that is not valid.
pub fn invalid(field: &str, code: &'static str) -> (Code, Vec<(String, &'static str)>) {
    (Code::ValidationFailed, vec![(field.to_owned(), code)])
}

fn request_of<T>(kind: Kind, roles: &[Role], message: T) -> Request<T> {
    let caller = Caller {
        kind,
        subject: "0192abcd-0000-7000-8000-00000000000f".into(),
        roles: roles.to_vec(),
    };
    let token = issuer().issue(Grant {
        caller: &caller,
        now: Clock::system().now(),
        lifetime: Duration::from_mins(10),
        id: "1",
    });
    let mut request = Request::new(message);
    let bearer = format!("Bearer {token}").parse().unwrap();
    request.metadata_mut().insert("authorization", bearer);
    request
}

fn issuer() -> TokenIssuer {
    TokenIssuer::new(&[7; 32])
}

fn auth() -> Auth {
    Auth {
        verifier: TokenVerifier::fixed(&issuer().jwks_json()).unwrap(),
        token: ServiceToken::new(|| Box::pin(async { Ok(service_token()) })),
    }
}

fn service_token() -> String {
    let metadata = service(()).into_parts().0;
    let bearer = metadata.get("authorization").unwrap().to_str().unwrap();
    bearer.trim_start_matches("Bearer ").to_owned()
}

fn now() -> DateTime<Utc> {
    NOW.parse().unwrap()
}

/// Events stay in the outbox: nothing listens where NATS should be.
fn config(server: &PgConnectOptions, wallet: &FakeWallet) -> Config {
    let database = format!(
        "postgres://guerdon_catalog_app:guerdon_catalog_app@{}:{}/{}",
        server.get_host(),
        server.get_port(),
        server.get_database().unwrap(),
    );
    let wallet = format!("http://{}", wallet.address);
    let arguments = [
        "catalog-svc",
        "--service-secret=hush",
        "--listen=127.0.0.1:0",
        "--nats-url=nats://127.0.0.1:1",
        "--media-base-url=https://media.test/",
        &format!("--database-url={database}"),
        &format!("--wallet-grpc-url={wallet}"),
    ];
    let command = Config::augment_args(Command::new("catalog-svc"));
    Config::from_arg_matches(&command.get_matches_from(arguments)).unwrap()
}
