//! Calls to the services: connections, a token, and the reasons of errors.

use std::time::Duration;

use anyhow::Context as _;
use platform::{
    auth::{Caller, Grant, Kind, Role},
    clock::Clock,
    error::Failure,
    testing,
};
use proto::wallet::v1::{GetSettingsRequest, settings_service_client::SettingsServiceClient};
use stack::Service;
use tonic::{
    Request, Status,
    metadata::{Ascii, MetadataValue},
    transport::{Channel, Endpoint},
};

use crate::environment::Environment;

/// Long enough for any call under load; a longer one counts as an error.
pub const TIMEOUT: Duration = Duration::from_secs(10);

/// A bearer token.
pub type Token = MetadataValue<Ascii>;

/// Opens `each` connections to each of the first `replicas` processes of wallet-svc.
pub async fn wallets(
    environment: &Environment,
    replicas: usize,
    each: usize,
) -> anyhow::Result<Vec<Channel>> {
    let mut channels = Vec::new();
    for _ in 0..each {
        for number in 1..=replicas {
            let name = match number {
                1 => "wallet-svc".to_owned(),
                _ => format!("wallet-svc-{number}"),
            };
            let port = environment.stack.wiring().instance(&name)?.port;
            channels.push(connect(format!("http://127.0.0.1:{port}")).await?);
        }
    }
    Ok(channels)
}

/// Opens a connection to a service.
pub async fn service(environment: &Environment, name: &str) -> anyhow::Result<Channel> {
    let port = environment.stack.wiring().instance(name)?.port;
    connect(format!("http://127.0.0.1:{port}")).await
}

async fn connect(url: String) -> anyhow::Result<Channel> {
    Ok(endpoint(url)?.connect().await?)
}

/// Makes a connection to a process of this machine that is opened by its first call.
pub fn lazy(port: u16) -> anyhow::Result<Channel> {
    Ok(endpoint(format!("http://127.0.0.1:{port}"))?.connect_lazy())
}

fn endpoint(url: String) -> anyhow::Result<Endpoint> {
    let endpoint = Endpoint::from_shared(url)?;
    Ok(endpoint.tcp_nodelay(true).timeout(TIMEOUT))
}

/// Signs a token of an admin, valid for an hour, as identity-svc does for an API key.
pub async fn admin_token(environment: &Environment) -> anyhow::Result<Token> {
    sign(environment, Kind::Key, "load", 0).await
}

/// Signs a token of a user with this token version, valid for an hour.
pub async fn user_token(
    environment: &Environment,
    id: &str,
    version: i32,
) -> anyhow::Result<Token> {
    sign(environment, Kind::User, id, version).await
}

/// Signs a token of orders-svc, which alone may post to the ledger, valid for an hour.
pub async fn ledger_token(environment: &Environment) -> anyhow::Result<Token> {
    sign(environment, Kind::Service, Service::Orders.program(), 0).await
}

async fn sign(
    environment: &Environment,
    kind: Kind,
    subject: &str,
    version: i32,
) -> anyhow::Result<Token> {
    let key = &environment.stack.wiring().secrets.key_encryption_key;
    let issuer = testing::stored_issuer(&mut environment.connect(None).await?, key).await?;
    let caller = Caller {
        kind,
        subject: subject.to_owned(),
        roles: vec![match kind {
            Kind::User => Role::User,
            Kind::Key | Kind::Service | Kind::Anonymous => Role::Admin,
        }],
    };
    let token = issuer.issue(Grant {
        caller: &caller,
        version,
        now: Clock::system().now(),
        lifetime: Duration::from_hours(1),
        id: "load",
    });
    Ok(format!("Bearer {token}").parse()?)
}

/// Returns a request with this token.
pub fn authorized<T>(message: T, token: &Token) -> Request<T> {
    let mut request = Request::new(message);
    request
        .metadata_mut()
        .insert("authorization", token.clone());
    request
}

/// Returns the id of the default wallet.
pub async fn default_wallet(channel: Channel, token: &Token) -> anyhow::Result<String> {
    let request = authorized(GetSettingsRequest {}, token);
    let response = SettingsServiceClient::new(channel)
        .get_settings(request)
        .await?;
    let settings = response.into_inner().settings.context("settings")?;
    Ok(settings.default_wallet_id)
}

/// Returns the reason of an error: `insufficient_funds`.
pub fn reason(status: &Status) -> &'static str {
    Failure::from_status(status).code.as_str()
}
