//! A running gateway with fake services behind it.

use std::time::Duration;

use chrono::TimeDelta;
use clap::Parser as _;
use futures::FutureExt as _;
use gateway::{Config, Gateway};
use platform::{
    auth::{
        Auth, Caller, Grant, Kind, Revocations, Role, ServiceToken, TokenIssuer, TokenVerifier,
    },
    clock::Clock,
    service::{Application as _, Runtime},
};
use proto::{
    catalog::v1::{ImportProductsResponse, ImportedProduct},
    identity::v1::{ExchangeApiKeyResponse, IssueAnonymousTokenResponse},
};
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde::Serialize;
use serde_json::Value;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::fake_services::{FakeServices, ReceivedCall};

/// A well-formed id.
pub const ID: &str = "01920000-0000-7000-8000-000000000001";
/// An API key that the fake identity-svc exchanges for a token of an admin.
pub const ADMIN_KEY: &str = "gk_admin";

#[derive(clap::Parser)]
struct Args {
    #[command(flatten)]
    config: Config,
}

/// Each byte of the seed of the key that signs tokens.
pub const SEED: u8 = 7;

/// A running gateway, its clients and the services behind it.
pub struct TestApp {
    pub base: String,
    pub services: FakeServices,
    /// The token that the fake identity-svc issues for callers without credentials.
    pub anonymous_token: String,
    /// The gateway's own token.
    pub own_token: String,
    issuer: TokenIssuer,
    client: reqwest::Client,
    stop: DropGuard,
}

/// A request and its response, with the RPCs in between.
#[derive(Debug, Serialize)]
pub struct Exchange {
    pub calls: Vec<ReceivedCall>,
    pub status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub body: Value,
}

impl TestApp {
    /// Starts a gateway with fake services that respond to every RPC.
    pub async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// Starts a gateway with extra flags.
    pub async fn start_with(flags: &[&str]) -> Self {
        Self::start_knowing(Revocations::none(), flags).await
    }

    /// Starts a gateway that checks tokens against these revocations.
    pub async fn start_knowing(revocations: Revocations, flags: &[&str]) -> Self {
        let services = FakeServices::start();
        let issuer = TokenIssuer::new(&[SEED; 32]);
        let token = token(&issuer, Kind::Key, &[Role::Admin]);
        services.reply("AuthService/ExchangeApiKey", &exchanged(token));
        let anonymous_token = self::token(&issuer, Kind::Anonymous, &[Role::Admin]);
        let response = IssueAnonymousTokenResponse {
            token: anonymous_token.clone(),
            ..IssueAnonymousTokenResponse::default()
        };
        services.reply("AuthService/IssueAnonymousToken", &response);
        // The sample of an import has errors.
        services.reply("ProductService/ImportProducts", &imported());
        let own_token = self::token(&issuer, Kind::Service, &[Role::Admin]);
        let verifier = verifier(&issuer).with_revocations(revocations);
        let own = own_token.clone();
        let (base, stop) = start_gateway(&services.url(), verifier, own, flags).await;
        Self {
            base,
            own_token,
            services,
            anonymous_token,
            issuer,
            client: reqwest::Client::new(),
            stop,
        }
    }

    /// Starts a gateway whose services are unavailable. Nothing listens on port 9, the discard
    /// service.
    pub async fn start_without_services(flags: &[&str]) -> Self {
        let mut app = Self::start().await;
        let own_token = app.own_token.clone();
        let verifier = verifier(&app.issuer);
        let (base, stop) = start_gateway("http://127.0.0.1:9", verifier, own_token, flags).await;
        app.base = base;
        app.stop = stop;
        app
    }

    /// Stops the gateway and not the services.
    pub fn stop_gateway(&mut self) {
        self.stop = CancellationToken::new().drop_guard();
    }

    pub fn anonymous(&self, method: &str, path: &str) -> RequestBuilder {
        let method = Method::from_bytes(method.as_bytes()).expect("a method");
        self.client.request(method, format!("{}{path}", self.base))
    }

    /// Builds a request of a user without roles besides `user`.
    pub fn user(&self, method: &str, path: &str) -> RequestBuilder {
        self.with_token(method, path, Kind::User, &[Role::User])
    }

    /// Builds a request of an admin.
    pub fn admin(&self, method: &str, path: &str) -> RequestBuilder {
        self.with_token(method, path, Kind::Key, &[Role::Admin])
    }

    pub fn with_token(
        &self,
        method: &str,
        path: &str,
        kind: Kind,
        roles: &[Role],
    ) -> RequestBuilder {
        let token = token(&self.issuer, kind, roles);
        self.anonymous(method, path).bearer_auth(token)
    }

    /// Issues a user's token at another time, with the key of this seed.
    pub fn issue(seed: u8, at: TimeDelta) -> String {
        let caller = caller(Kind::User, &[Role::User]);
        sign(&TokenIssuer::new(&[seed; 32]), &caller, at)
    }

    pub async fn get(&self, path: &str) -> Exchange {
        self.exchange(self.admin("GET", path)).await
    }

    pub async fn delete(&self, path: &str) -> Exchange {
        self.exchange(self.admin("DELETE", path)).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Exchange {
        self.exchange(self.admin("POST", path).json(body)).await
    }

    pub async fn patch(&self, path: &str, body: &Value) -> Exchange {
        self.exchange(self.admin("PATCH", path).json(body)).await
    }

    /// Sends a JSON body as it is written.
    pub async fn post_raw(&self, path: &str, body: impl Into<reqwest::Body>) -> Exchange {
        let request = self.admin("POST", path);
        let request = request.header("content-type", "application/json");
        self.exchange(request.body(body)).await
    }

    /// Sends a request and takes the RPCs that it led to.
    pub async fn exchange(&self, request: RequestBuilder) -> Exchange {
        let response = request.send().await.expect("a response");
        let status = response.status().as_u16();
        let location = response.headers().get("location");
        let location = location.map(|path| path.to_str().expect("ASCII").to_owned());
        let body = response.text().await.expect("a whole body");
        let body = serde_json::from_str(&body).unwrap_or(Value::String(body));
        Exchange {
            calls: self.services.take_calls(),
            status,
            location,
            body: if body == "" { Value::Null } else { body },
        }
    }
}

impl Exchange {
    /// Returns the only RPC.
    pub fn call(&self) -> &ReceivedCall {
        match self.calls.as_slice() {
            [call] => call,
            calls => panic!("one RPC expected: {calls:?}, {} {}", self.status, self.body),
        }
    }

    /// Asserts that the body is a problem document with this status and code.
    pub fn problem(&self, status: u16, code: &str) -> &Value {
        assert_problem(status, code, self.status, &self.body)
    }
}

/// Sends a request and asserts that the response is a problem document.
pub async fn problem(request: RequestBuilder, status: u16, code: &str) -> Value {
    let response = request.send().await.expect("a response");
    problem_of(response, status, code).await
}

/// Asserts that a response is a problem document.
pub async fn problem_of(response: Response, status: u16, code: &str) -> Value {
    assert_eq!(
        response.headers()["content-type"],
        "application/problem+json"
    );
    let actual = response.status().as_u16();
    let document: Value = response.json().await.expect("JSON");
    assert_problem(status, code, actual, &document).clone()
}

fn assert_problem<'a>(status: u16, code: &str, actual: u16, document: &'a Value) -> &'a Value {
    assert_eq!(document["code"], code, "{document}");
    assert_eq!(actual, status, "{document}");
    assert_eq!(document["status"], status);
    assert_eq!(document["type"], format!("/docs/errors#{code}"));
    assert_ne!(document["requestId"], "");
    document
}

/// Sends a request and asserts the status of the response.
pub async fn assert_status(request: RequestBuilder, status: StatusCode) -> Response {
    let response = request.send().await.expect("a response");
    assert_eq!(response.status(), status, "{}", response.url());
    response
}

async fn start_gateway(
    services: &str,
    verifier: TokenVerifier,
    own_token: String,
    flags: &[&str],
) -> (String, DropGuard) {
    let mut args = vec!["gateway".to_owned(), "--listen=127.0.0.1:0".to_owned()];
    if !flags
        .iter()
        .any(|flag| flag.starts_with("--service-secret="))
    {
        args.push("--service-secret=k3J9x0PqLr7sTz2Vb5Yw8Nc1Md4Fg6Ha".to_owned());
    }
    if !flags.iter().any(|flag| flag.starts_with("--rate-limit=")) {
        args.push("--rate-limit=0".to_owned());
    }
    for service in ["catalog", "orders", "wallet", "identity"] {
        args.push(format!("--{service}-grpc-url={services}"));
    }
    args.extend(flags.iter().map(|flag| (*flag).to_owned()));
    let config = Args::parse_from(args).config;
    let auth = Auth {
        verifier,
        token: ServiceToken::new(move || {
            let token = own_token.clone();
            async move { Ok(token) }.boxed()
        }),
    };
    let runtime = Runtime {
        auth: Some(auth),
        ..Runtime::system()
    };
    let gateway = Gateway::build(config, runtime).await.expect("builds");
    let base = format!("http://{}", gateway.local_addr().expect("bound"));
    let stop = CancellationToken::new();
    tokio::spawn(gateway.run_until_stopped(stop.clone()));
    (base, stop.drop_guard())
}

fn verifier(issuer: &TokenIssuer) -> TokenVerifier {
    TokenVerifier::fixed(&issuer.jwks_json()).expect("our own keys")
}

/// Builds the response of identity-svc to a valid API key.
fn exchanged(token: String) -> ExchangeApiKeyResponse {
    ExchangeApiKeyResponse {
        token,
        ..ExchangeApiKeyResponse::default()
    }
}

/// Builds the response of catalog-svc to an import that succeeds.
fn imported() -> ImportProductsResponse {
    ImportProductsResponse {
        products: vec![ImportedProduct {
            line: 0,
            id: ID.to_owned(),
        }],
        errors: Vec::new(),
    }
}

fn token(issuer: &TokenIssuer, kind: Kind, roles: &[Role]) -> String {
    sign(issuer, &caller(kind, roles), TimeDelta::zero())
}

fn caller(kind: Kind, roles: &[Role]) -> Caller {
    Caller {
        kind,
        subject: ID.to_owned(),
        roles: roles.to_vec(),
    }
}

fn sign(issuer: &TokenIssuer, caller: &Caller, at: TimeDelta) -> String {
    issuer.issue(Grant {
        caller,
        version: 0,
        now: Clock::system().now() + at,
        lifetime: Duration::from_mins(10),
        id: "t",
    })
}
