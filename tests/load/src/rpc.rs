//! Calls to the services: connections, a token, and the reasons of errors.

use std::time::Duration;

use anyhow::Context as _;
use platform::error::Failure;
use proto::{
    identity::v1::{IssueServiceTokenRequest, auth_service_client::AuthServiceClient},
    wallet::v1::{GetSettingsRequest, settings_service_client::SettingsServiceClient},
};
use stack::Service;
use tonic::{
    Request, Status,
    metadata::{Ascii, MetadataValue},
    transport::{Channel, Endpoint},
};

use crate::environment::Environment;

/// Long enough for any call under load; a longer one counts as an error.
const TIMEOUT: Duration = Duration::from_secs(10);

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

async fn connect(url: String) -> anyhow::Result<Channel> {
    let endpoint = Endpoint::from_shared(url)?
        .tcp_nodelay(true)
        .timeout(TIMEOUT);
    Ok(endpoint.connect().await?)
}

/// Gets a service token, valid for ten minutes.
pub async fn token(environment: &Environment) -> anyhow::Result<Token> {
    let wiring = environment.stack.wiring();
    let channel = connect(wiring.grpc_url(Service::Identity)).await?;
    let request = IssueServiceTokenRequest {
        service: "load".to_owned(),
        secret: wiring.secrets.service_secret.clone(),
    };
    let issued = AuthServiceClient::new(channel)
        .issue_service_token(request)
        .await?;
    Ok(format!("Bearer {}", issued.into_inner().token).parse()?)
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
