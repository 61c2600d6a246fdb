//! Server and client together, serving identity's `AuthService`.

mod access;
mod availability;
mod lists;
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

#[tokio::test]
async fn the_handler_gets_the_caller_of_the_token() {
    let server = start().await;
    assert_eq!(
        call(&mut server.client(), "caller").await.unwrap(),
        "gateway"
    );
    assert_eq!(
        call(&mut server.client(), "anything").await,
        Err(Code::InvalidState)
    );

    // A token in the metadata is sent instead of the process's own.
    let mut other = Request::new(IssueAnonymousTokenRequest {});
    let header = format!("Bearer {}", token(&issuer(), "orders-svc"));
    other
        .metadata_mut()
        .insert("authorization", header.parse().unwrap());
    let refused = server.client().issue_anonymous_token(other).await;
    let refused = refused.unwrap_err();
    assert_eq!(refused.code(), tonic::Code::PermissionDenied);
}

#[tokio::test]
async fn only_open_methods_work_without_a_valid_token() {
    let server = start().await;
    assert_eq!(
        call(&mut server.anonymous(), "caller").await,
        Err(Code::Unauthenticated)
    );
    assert!(server.anonymous().get_jwks(GetJwksRequest {}).await.is_ok());

    for bad in ["Bearer nonsense", "nonsense", "Basic YTpi", "bearer", ""] {
        let mut request = Request::new(key("caller"));
        request
            .metadata_mut()
            .insert("authorization", bad.parse().unwrap());
        let status = server
            .anonymous()
            .exchange_api_key(request)
            .await
            .unwrap_err();
        assert_eq!(status.code(), tonic::Code::Unauthenticated, "{bad}");
    }
}

#[tokio::test]
async fn a_refused_service_token_is_a_fault_and_is_replaced() {
    let server = start().await;
    let seeds = std::sync::Mutex::new(vec![1, 9]);
    let source = ServiceToken::new(move || {
        let seed = seeds.lock().unwrap().pop().unwrap();
        async move { Ok(token(&TokenIssuer::new(&[seed; 32]), "gateway")) }.boxed()
    });
    let channel = client::connect("identity", &server.url, Some(source)).unwrap();
    let mut client = channel.service();
    assert_eq!(call(&mut client, "caller").await, Err(Code::Unavailable));
    assert_eq!(call(&mut client, "caller").await.unwrap(), "gateway");
}

#[tokio::test]
async fn keys_and_service_tokens_are_fetched_from_identity() {
    let identity = start().await;
    let common: Common = config::from_args(&["--identity-grpc-url", &identity.url]).unwrap();
    let secret: ServiceSecret = config::from_args(&["--service-secret", SECRET]).unwrap();
    let auth = Auth::remote("gateway", &common, &secret).unwrap();
    let server = serve(auth.verifier, Readiness::default()).await;
    let channel = client::connect("test", &server.url, Some(auth.token)).unwrap();
    let mut client = channel.service();
    assert_eq!(call(&mut client, "caller").await.unwrap(), "gateway");

    let stranger = token(&TokenIssuer::new(&[2; 32]), "gateway");
    let mut request = Request::new(key("caller"));
    request.metadata_mut().insert(
        "authorization",
        format!("Bearer {stranger}").parse().unwrap(),
    );
    let status = server
        .anonymous()
        .exchange_api_key(request)
        .await
        .unwrap_err();
    assert_eq!(status.code(), tonic::Code::Unauthenticated);
}

#[tokio::test]
async fn a_handlers_refusal_of_credentials_is_no_fault_of_the_service_token() {
    let server = start().await;
    let refused = call(&mut server.client(), "refuse").await;
    assert_eq!(refused, Err(Code::Unauthenticated), "by the handler");

    let stranger = ServiceToken::new(|| {
        let token = token(&TokenIssuer::new(&[2; 32]), "gateway");
        Box::pin(async move { Ok(token) })
    });
    let channel = client::connect("test", &server.url, Some(stranger)).unwrap();
    let refused = call(&mut channel.service(), "caller").await;
    assert_eq!(refused, Err(Code::Unavailable), "by the layer");
}

#[tokio::test]
async fn a_disconnected_client_does_not_cancel_the_handler() {
    let server = start().await;
    let mut client = server.client();
    let pending = tokio::spawn(async move { call(&mut client, "wait").await });
    server.probe.entered.notified().await;
    pending.abort();
    assert!(pending.await.unwrap_err().is_cancelled());
    server.probe.release.notify_one();
    server.probe.finished.notified().await;
}

#[tokio::test]
async fn a_passed_deadline_does_not_cancel_the_handler() {
    let server = start().await;
    let mut client = server.client();
    call(&mut client, "caller")
        .await
        .expect("connected before the deadline is set");
    let mut request = Request::new(key("wait"));
    request.set_timeout(Duration::from_secs(1));
    let status = client.exchange_api_key(request).await.unwrap_err();
    assert_eq!(
        Failure::from_status(&status).code,
        Code::Timeout,
        "from the server"
    );
    server.probe.release.notify_one();
    server.probe.finished.notified().await;
}

#[tokio::test]
async fn deadlines_are_propagated() {
    let server = start().await;
    let default: u128 = call(&mut server.client(), "time")
        .await
        .unwrap()
        .parse()
        .unwrap();
    assert!((2000..2900).contains(&default), "{default}");

    let soon = Some(Instant::now() + Duration::from_secs(1));
    let mut client = server.client();
    let less = deadline::within(soon, call(&mut client, "time"))
        .await
        .unwrap();
    assert!(less.parse::<u128>().unwrap() < 1000);
    let late = deadline::within(Some(Instant::now()), call(&mut client, "time")).await;
    assert_eq!(late, Err(Code::Timeout));
}

#[tokio::test]
async fn a_panic_is_an_internal_error_and_the_server_goes_on() {
    let server = start().await;
    let mut client = server.client();
    assert_eq!(call(&mut client, "panic").await, Err(Code::Internal));
    assert_eq!(call(&mut client, "caller").await.unwrap(), "gateway");
}

#[tokio::test]
async fn responses_may_be_larger_than_the_default_limit() {
    let server = start().await;
    let large = call(&mut server.client(), "large").await.unwrap();
    assert_eq!(large.len(), DEFAULT_LIMIT + 1);
}

#[tokio::test]
async fn a_trace_is_propagated() {
    let server = start().await;
    let span = tracing::info_span!("test");
    let here = span.in_scope(telemetry::current_trace_id).unwrap();
    let mut client = server.client();
    let there = tracing::Instrument::instrument(call(&mut client, "trace"), span)
        .await
        .unwrap();
    assert_eq!(there, here);
}
