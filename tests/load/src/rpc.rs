//! The way into the services: connections, a token, and the reasons of refusals.

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

use crate::bed::Bed;

/// Long enough for any call under load; one that takes longer counts as an error.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A bearer token.
pub type Token = MetadataValue<Ascii>;

/// Connections to the first `replicas` processes of wallet-svc, `each` of them to every one.
pub async fn wallets(bed: &Bed, replicas: usize, each: usize) -> anyhow::Result<Vec<Channel>> {
    let mut channels = Vec::new();
    for _ in 0..each {
        for number in 1..=replicas {
            let name = match number {
                1 => "wallet-svc".to_owned(),
                _ => format!("wallet-svc-{number}"),
            };
            let port = bed.stack.wiring().instance(&name)?.port;
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

/// A service's token, good for ten minutes.
pub async fn token(bed: &Bed) -> anyhow::Result<Token> {
    let wiring = bed.stack.wiring();
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

/// A request of a caller with this token.
pub fn authorized<T>(message: T, token: &Token) -> Request<T> {
    let mut request = Request::new(message);
    request
        .metadata_mut()
        .insert("authorization", token.clone());
    request
}

/// The wallet that payments go to.
pub async fn default_wallet(channel: Channel, token: &Token) -> anyhow::Result<String> {
    let request = authorized(GetSettingsRequest {}, token);
    let answer = SettingsServiceClient::new(channel)
        .get_settings(request)
        .await?;
    let settings = answer.into_inner().settings.context("settings")?;
    Ok(settings.default_wallet_id)
}

/// Why a call was refused: `insufficient_funds`.
pub fn reason(status: &Status) -> &'static str {
    Failure::from_status(status).code.as_str()
}
