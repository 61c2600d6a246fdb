//! Server and client against each other, with identity's `AuthService` as the service behind them.

mod availability;

use std::{sync::Arc, time::Duration};

use futures::FutureExt as _;
use proto::identity::v1::{
    ExchangeApiKeyRequest, ExchangeApiKeyResponse, GetJwksRequest, GetJwksResponse,
    IssueServiceTokenRequest, IssueServiceTokenResponse,
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
    config::{self, Common},
    error::{Code, Failure},
    lifecycle::Readiness,
    telemetry,
    testing::trace_process,
};

/// tonic's own limit of a message's size.
const DEFAULT_LIMIT: usize = 4 * 1024 * 1024;

/// What the handler of the test service meets and waits for.
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
        if request.secret != "hush" {
            return Err(Failure::new(Code::Unauthenticated, "wrong secret").into());
        }
        let token = self.token(&request.service);
        Ok(Response::new(IssueServiceTokenResponse {
            token,
            expires_at: None,
        }))
    }

    /// Answers with what the handler sees, as told by the "key".
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
            large if large.len() > DEFAULT_LIMIT => large.to_owned(),
            "refuse" => return Err(Failure::new(Code::Unauthenticated, "no such key").into()),
            _ => return Err(Failure::new(Code::InvalidState, "no").into()),
        };
        Ok(Response::new(ExchangeApiKeyResponse {
            token,
            expires_at: None,
        }))
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
    trace_process();
    let (probe, stop) = (Probe::default(), CancellationToken::new());
    let identity = Identity {
        issuer: issuer(),
        probe: probe.clone(),
    };
    let server = Server::bind("127.0.0.1:0".parse().unwrap(), verifier, readiness)
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
        let fetch = || async { Ok(token(&issuer(), "orders-svc")) }.boxed();
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

async fn ask(client: &mut AuthServiceClient<client::Client>, what: &str) -> Result<String, Code> {
    let answer = client.exchange_api_key(key(what)).await;
    answer
        .map(|answer| answer.into_inner().token)
        .map_err(|s| Failure::from_status(&s).code)
}

#[tokio::test]
async fn the_handler_knows_its_caller() {
    let server = start().await;
    assert_eq!(
        ask(&mut server.client(), "caller").await.unwrap(),
        "orders-svc"
    );
    assert_eq!(
        ask(&mut server.client(), "anything").await,
        Err(Code::InvalidState)
    );

    let mut other = Request::new(key("caller"));
    let header = format!("Bearer {}", token(&issuer(), "gateway"));
    other
        .metadata_mut()
        .insert("authorization", header.parse().unwrap());
    let answer = server.client().exchange_api_key(other).await.unwrap();
    assert_eq!(
        answer.into_inner().token,
        "gateway",
        "the request's own token goes first"
    );
}

#[tokio::test]
async fn without_a_good_token_only_open_methods_answer() {
    let server = start().await;
    assert_eq!(
        ask(&mut server.anonymous(), "caller").await,
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
async fn our_own_refused_token_is_a_fault_and_is_replaced() {
    let server = start().await;
    let seeds = std::sync::Mutex::new(vec![1, 9]);
    let source = ServiceToken::new(move || {
        let seed = seeds.lock().unwrap().pop().unwrap();
        async move { Ok(token(&TokenIssuer::new(&[seed; 32]), "orders-svc")) }.boxed()
    });
    let channel = client::connect("identity", &server.url, Some(source)).unwrap();
    let mut client = channel.service();
    assert_eq!(ask(&mut client, "caller").await, Err(Code::Unavailable));
    assert_eq!(ask(&mut client, "caller").await.unwrap(), "orders-svc");
}

#[tokio::test]
async fn keys_and_tokens_come_from_identity() {
    let identity = start().await;
    let args = [
        "--service-secret",
        "hush",
        "--identity-grpc-url",
        &identity.url,
    ];
    let common: Common = config::from_args(&args).unwrap();
    let auth = Auth::remote("wallet-svc", &common).unwrap();
    let server = serve(auth.verifier, Readiness::default()).await;
    let channel = client::connect("test", &server.url, Some(auth.token)).unwrap();
    let mut client = channel.service();
    assert_eq!(ask(&mut client, "caller").await.unwrap(), "wallet-svc");

    let stranger = token(&TokenIssuer::new(&[2; 32]), "wallet-svc");
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
async fn only_a_refused_token_is_our_own_fault() {
    let server = start().await;
    let refused = ask(&mut server.client(), "refuse").await;
    assert_eq!(refused, Err(Code::Unauthenticated), "the handler's word");

    let stranger = ServiceToken::new(|| {
        let token = token(&TokenIssuer::new(&[2; 32]), "orders-svc");
        Box::pin(async move { Ok(token) })
    });
    let channel = client::connect("test", &server.url, Some(stranger)).unwrap();
    let refused = ask(&mut channel.service(), "caller").await;
    assert_eq!(refused, Err(Code::Unavailable), "the boundary's");
}

#[tokio::test]
async fn a_client_that_goes_away_does_not_cancel_the_work() {
    let server = start().await;
    let mut client = server.client();
    let call = tokio::spawn(async move { ask(&mut client, "wait").await });
    server.probe.entered.notified().await;
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    server.probe.release.notify_one();
    server.probe.finished.notified().await;
}

#[tokio::test]
async fn a_deadline_ends_the_waiting_and_not_the_work() {
    let server = start().await;
    let mut client = server.client();
    ask(&mut client, "caller")
        .await
        .expect("connected, so that the time goes to the call alone");
    let mut request = Request::new(key("wait"));
    request.set_timeout(Duration::from_secs(1));
    let status = client.exchange_api_key(request).await.unwrap_err();
    assert_eq!(
        Failure::from_status(&status).code,
        Code::Timeout,
        "the server's own answer"
    );
    server.probe.release.notify_one();
    server.probe.finished.notified().await;
}

#[tokio::test]
async fn deadlines_are_handed_on() {
    let server = start().await;
    let default: u128 = ask(&mut server.client(), "time")
        .await
        .unwrap()
        .parse()
        .unwrap();
    assert!((2000..2900).contains(&default), "{default}");

    let soon = Some(Instant::now() + Duration::from_secs(1));
    let mut client = server.client();
    let less = deadline::within(soon, ask(&mut client, "time"))
        .await
        .unwrap();
    assert!(less.parse::<u128>().unwrap() < 1000);
    let late = deadline::within(Some(Instant::now()), ask(&mut client, "time")).await;
    assert_eq!(late, Err(Code::Timeout));
}

#[tokio::test]
async fn a_panic_is_an_internal_error_and_no_more() {
    let server = start().await;
    let mut client = server.client();
    assert_eq!(ask(&mut client, "panic").await, Err(Code::Internal));
    assert_eq!(ask(&mut client, "caller").await.unwrap(), "orders-svc");
}

#[tokio::test]
async fn requests_and_responses_may_be_larger_than_the_default_limit() {
    let server = start().await;
    let large = "x".repeat(DEFAULT_LIMIT + 1);
    let echoed = ask(&mut server.client(), &large).await.unwrap();
    assert_eq!(echoed.len(), large.len());
}

#[tokio::test]
async fn one_trace_crosses_the_call() {
    let server = start().await;
    let span = tracing::info_span!("test");
    let here = span.in_scope(telemetry::current_trace_id).unwrap();
    let mut client = server.client();
    let there = tracing::Instrument::instrument(ask(&mut client, "trace"), span)
        .await
        .unwrap();
    assert_eq!(there, here);
}
