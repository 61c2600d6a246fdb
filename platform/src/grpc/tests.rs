//! Server and client together, serving identity's `AuthService`.

mod access;
mod availability;
mod credentials;
mod handlers;
mod lists;
mod replicas;
mod revocations;
mod tls;

use std::{sync::Arc, time::Duration};

use futures::FutureExt as _;
use proto::identity::v1::{
    ExchangeApiKeyRequest, ExchangeApiKeyResponse, GetJwksRequest, GetJwksResponse,
    IssueAnonymousTokenRequest, IssueAnonymousTokenResponse, IssueServiceTokenRequest,
    IssueServiceTokenResponse, LogInRequest, LogInResponse, RefreshTokenRequest,
    RefreshTokenResponse, RevokeRefreshTokenRequest, RevokeRefreshTokenResponse,
    ValidateTokenRequest, ValidateTokenResponse,
    auth_service_client::AuthServiceClient,
    auth_service_server::{AuthService, AuthServiceServer},
};
use tokio::{net::TcpListener, sync::Notify, task::JoinHandle, time::Instant};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status};

use super::{client, deadline, server::Server};
use crate::{
    auth::{Auth, Caller, Grant, Kind, ServiceToken, TokenIssuer, TokenVerifier},
    clock::Clock,
    config::{self, Common, ServiceSecret, Tls},
    error::{Code, Failure},
    lifecycle::Readiness,
    telemetry,
    testing::trace_process,
};

/// tonic's own limit of a message's size.
const DEFAULT_LIMIT: usize = 4 * 1024 * 1024;

const SECRET: &str = "k3J9x0PqLr7sTz2Vb5Yw8Nc1Md4Fg6Ha";

/// Signals between a test and the handler of its service.
#[derive(Clone, Default)]
struct Probe {
    entered: Arc<Notify>,
    release: Arc<Notify>,
    finished: Arc<Notify>,
}

struct Identity {
    issuer: TokenIssuer,
    probe: Probe,
}

impl Identity {
    fn token(&self, service: &str) -> String {
        token(&self.issuer, service)
    }
}

fn token(issuer: &TokenIssuer, service: &str) -> String {
    let (kind, subject) = (Kind::Service, service.to_owned());
    issuer.issue(Grant {
        caller: &Caller {
            kind,
            subject,
            roles: vec![],
        },
        version: 0,
        now: Clock::system().now(),
        lifetime: Duration::from_mins(10),
        id: "t",
    })
}

#[tonic::async_trait]
impl AuthService for Identity {
    async fn get_jwks(
        &self,
        _: Request<GetJwksRequest>,
    ) -> Result<Response<GetJwksResponse>, Status> {
        Ok(Response::new(GetJwksResponse {
            jwks_json: self.issuer.jwks_json(),
        }))
    }

    async fn issue_service_token(
        &self,
        request: Request<IssueServiceTokenRequest>,
    ) -> Result<Response<IssueServiceTokenResponse>, Status> {
        let request = request.into_inner();
        if request.secret != SECRET {
            return Err(Failure::new(Code::Unauthenticated, "wrong secret").into());
        }
        let token = self.token(&request.service);
        Ok(Response::new(IssueServiceTokenResponse {
            token,
            expires_at: None,
        }))
    }

    async fn issue_anonymous_token(
        &self,
        _: Request<IssueAnonymousTokenRequest>,
    ) -> Result<Response<IssueAnonymousTokenResponse>, Status> {
        Ok(Response::new(IssueAnonymousTokenResponse::default()))
    }

    /// Responds as the "key" says.
    async fn exchange_api_key(
        &self,
        request: Request<ExchangeApiKeyRequest>,
    ) -> Result<Response<ExchangeApiKeyResponse>, Status> {
        let caller = Caller::of(&request).map_err(Status::from)?.subject.clone();
        let token = match request.get_ref().key.as_str() {
            "caller" => caller,
            "trace" => telemetry::current_trace_id().unwrap_or_default(),
            "time" => deadline::remaining()
                .unwrap_or_default()
                .as_millis()
                .to_string(),
            "wait" => {
                self.probe.entered.notify_one();
                self.probe.release.notified().await;
                self.probe.finished.notify_one();
                "waited".to_owned()
            }
            "panic" => panic!("a bug"),
            "large" => "x".repeat(DEFAULT_LIMIT + 1),
            "refuse" => return Err(Failure::new(Code::Unauthenticated, "unknown key").into()),
            _ => return Err(Failure::new(Code::InvalidState, "no").into()),
        };
        Ok(Response::new(ExchangeApiKeyResponse {
            token,
            expires_at: None,
        }))
    }

    async fn log_in(&self, _: Request<LogInRequest>) -> Result<Response<LogInResponse>, Status> {
        Err(Status::unimplemented("not called here"))
    }

    async fn refresh_token(
        &self,
        _: Request<RefreshTokenRequest>,
    ) -> Result<Response<RefreshTokenResponse>, Status> {
        Err(Status::unimplemented("not called here"))
    }

    async fn revoke_refresh_token(
        &self,
        _: Request<RevokeRefreshTokenRequest>,
    ) -> Result<Response<RevokeRefreshTokenResponse>, Status> {
        Err(Status::unimplemented("not called here"))
    }

    async fn validate_token(
        &self,
        _: Request<ValidateTokenRequest>,
    ) -> Result<Response<ValidateTokenResponse>, Status> {
        Err(Status::unimplemented("not called here"))
    }
}

/// A running server, its handler's probe, and the url to reach it.
struct Running {
    url: String,
    probe: Probe,
    stop: CancellationToken,
    ended: JoinHandle<anyhow::Result<()>>,
}

async fn serve(verifier: TokenVerifier, readiness: Readiness) -> Running {
    serve_with(&config::Grpc::default(), verifier, readiness).await
}

async fn serve_with(
    settings: &config::Grpc,
    verifier: TokenVerifier,
    readiness: Readiness,
) -> Running {
    trace_process();
    let (probe, stop) = (Probe::default(), CancellationToken::new());
    let identity = Identity {
        issuer: issuer(),
        probe: probe.clone(),
    };
    let server = Server::bind(
        "127.0.0.1:0".parse().unwrap(),
        settings,
        &Tls::default(),
        verifier,
        readiness,
    )
    .await
    .unwrap();
    let server = server.add_service(AuthServiceServer::new(identity));
    let url = format!("http://{}", server.local_addr());
    let ended = tokio::spawn(server.serve(stop.clone()));
    Running {
        url,
        probe,
        stop,
        ended,
    }
}

async fn start() -> Running {
    let verifier = TokenVerifier::fixed(&issuer().jwks_json()).unwrap();
    serve(verifier, Readiness::default()).await
}

impl Running {
    fn anonymous(&self) -> AuthServiceClient<client::Client> {
        client::connect("identity", &self.url, None)
            .unwrap()
            .service()
    }

    fn client(&self) -> AuthServiceClient<client::Client> {
        let fetch = || async { Ok(token(&issuer(), "gateway")) }.boxed();
        let token = ServiceToken::new(fetch);
        client::connect("identity", &self.url, Some(token))
            .unwrap()
            .service()
    }
}

fn issuer() -> TokenIssuer {
    TokenIssuer::new(&[1; 32])
}

fn key(key: &str) -> ExchangeApiKeyRequest {
    ExchangeApiKeyRequest {
        key: key.to_owned(),
    }
}

/// Calls the handler, which responds as the "key" says.
async fn call(client: &mut AuthServiceClient<client::Client>, says: &str) -> Result<String, Code> {
    match client.exchange_api_key(key(says)).await {
        Ok(response) => Ok(response.into_inner().token),
        Err(status) => Err(Failure::from_status(&status).code),
    }
}
