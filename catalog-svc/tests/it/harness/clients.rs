//! gRPC clients with a caller.

use std::time::Duration;

use platform::{
    auth::{Caller, Grant, Kind, Role, ServiceToken, TokenIssuer},
    clock::Clock,
    grpc::client::{self, Client},
    idempotency,
};
use proto::{
    audit::v1::audit_service_client::AuditServiceClient,
    catalog::v1::{
        catalog_quote_service_client::CatalogQuoteServiceClient,
        category_service_client::CategoryServiceClient,
        product_question_service_client::ProductQuestionServiceClient,
        product_service_client::ProductServiceClient,
        question_service_client::QuestionServiceClient,
        tax_rate_service_client::TaxRateServiceClient,
    },
};
use tonic::Request;

use super::{SEED, UNKNOWN};

/// A client for each gRPC service, all with one caller.
#[derive(Clone)]
pub(crate) struct Clients(Client);

impl Clients {
    pub(super) fn of_admin(url: &str) -> Self {
        Self::of(url, token(Kind::Key, UNKNOWN, &[Role::Admin]))
    }

    pub(super) fn of_user(url: &str) -> Self {
        Self::of(url, token(Kind::User, UNKNOWN, &[Role::User]))
    }

    pub(super) fn of_service(url: &str) -> Self {
        Self::of(url, service_token())
    }

    pub(super) fn anonymous(url: &str) -> Self {
        Self(client::connect("catalog", url, None).unwrap())
    }

    fn of(url: &str, token: String) -> Self {
        let token = ServiceToken::new(move || {
            let token = token.clone();
            Box::pin(async move { Ok(token) })
        });
        Self(client::connect("catalog", url, Some(token)).unwrap())
    }

    pub(crate) fn audit_log(&self) -> AuditServiceClient<Client> {
        self.0.service()
    }

    pub(crate) fn categories(&self) -> CategoryServiceClient<Client> {
        self.0.service()
    }

    pub(crate) fn products(&self) -> ProductServiceClient<Client> {
        self.0.service()
    }

    pub(crate) fn product_questions(&self) -> ProductQuestionServiceClient<Client> {
        self.0.service()
    }

    pub(crate) fn questions(&self) -> QuestionServiceClient<Client> {
        self.0.service()
    }

    pub(crate) fn quotes(&self) -> CatalogQuoteServiceClient<Client> {
        self.0.service()
    }

    pub(crate) fn tax_rates(&self) -> TaxRateServiceClient<Client> {
        self.0.service()
    }
}

pub(super) fn service_token() -> String {
    token(Kind::Service, "orders-svc", &[])
}

fn token(kind: Kind, subject: &str, roles: &[Role]) -> String {
    let caller = Caller {
        kind,
        subject: subject.into(),
        roles: roles.to_vec(),
    };
    TokenIssuer::new(&SEED).issue(Grant {
        caller: &caller,
        version: 0,
        now: Clock::system().now(),
        lifetime: Duration::from_mins(10),
        id: "test",
    })
}

/// Returns the request with an idempotency key, as the gateway sends it.
pub(crate) fn keyed<T>(message: T, path: &str, body_hash: &str) -> Request<T> {
    let mut request = Request::new(message);
    for (name, value) in [
        (idempotency::KEY, "k"),
        (idempotency::PATH, path),
        (idempotency::HASH, body_hash),
    ] {
        request.metadata_mut().insert(name, value.parse().unwrap());
    }
    request
}
