//! A running gateway whose services are all away.

use std::time::Duration;

use clap::Parser as _;
use futures::FutureExt as _;
use gateway::{Config, Gateway};
use platform::{
    auth::{Auth, Caller, Grant, Kind, Role, ServiceToken, TokenIssuer, TokenVerifier},
    clock::Clock,
    service::{Application as _, Runtime},
};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::Value;
use tokio_util::sync::{CancellationToken, DropGuard};

pub const ID: &str = "01920000-0000-7000-8000-000000000001";

#[derive(clap::Parser)]
struct Args {
    #[command(flatten)]
    config: Config,
}

pub struct Running {
    pub base: String,
    issuer: TokenIssuer,
    client: reqwest::Client,
    _stop: DropGuard,
}

/// Starts a gateway on a free port with these extra flags. Port 9 is the discard service: nothing
/// listens there.
pub async fn start(flags: &[&str]) -> Running {
    let mut args = vec![
        "gateway",
        "--listen",
        "127.0.0.1:0",
        "--service-secret",
        "s",
    ];
    for peer in ["catalog", "orders", "wallet", "identity"] {
        args.push(Box::leak(
            format!("--{peer}-grpc-url=http://127.0.0.1:9").into_boxed_str(),
        ));
    }
    args.extend(flags);
    let config = Args::parse_from(args).config;
    let issuer = TokenIssuer::new(&[7; 32]);
    let service = token(&issuer, Kind::Service, &[Role::Admin]);
    let auth = Auth {
        verifier: TokenVerifier::fixed(&issuer.jwks_json()).expect("our own keys"),
        token: ServiceToken::new(move || {
            let token = service.clone();
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
    Running {
        base,
        issuer,
        client: reqwest::Client::new(),
        _stop: stop.drop_guard(),
    }
}

fn token(issuer: &TokenIssuer, kind: Kind, roles: &[Role]) -> String {
    let caller = Caller {
        kind,
        subject: ID.to_owned(),
        roles: roles.to_vec(),
    };
    let lifetime = Duration::from_mins(10);
    issuer.issue(Grant {
        caller: &caller,
        now: Clock::system().now(),
        lifetime,
        id: "t",
    })
}

impl Running {
    pub fn anonymous(&self, method: &str, path: &str) -> RequestBuilder {
        let method = Method::from_bytes(method.as_bytes()).expect("a method");
        self.client.request(method, format!("{}{path}", self.base))
    }

    pub fn user(&self, method: &str, path: &str) -> RequestBuilder {
        self.anonymous(method, path)
            .bearer_auth(token(&self.issuer, Kind::User, &[Role::User]))
    }

    pub fn admin(&self, method: &str, path: &str) -> RequestBuilder {
        self.anonymous(method, path)
            .bearer_auth(token(&self.issuer, Kind::Key, &[Role::Admin]))
    }
}

/// Asserts that an answer is a problem document with this status and code, and gives it.
pub async fn problem(answer: Response, status: u16, code: &str) -> Value {
    assert_eq!(answer.status().as_u16(), status);
    assert_eq!(answer.headers()["content-type"], "application/problem+json");
    let document: Value = answer.json().await.expect("JSON");
    assert_eq!(document["code"], code, "{document}");
    assert_eq!(document["status"], status);
    assert_eq!(document["type"], format!("/docs/errors#{code}"));
    assert_ne!(document["requestId"], "");
    document
}
