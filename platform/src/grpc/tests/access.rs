//! What a server lets in: callers by the table of RPCs, descriptors, reflection, sizes.

use std::task::{Context, Poll};

use futures::future::{Ready, ready};
use http::{Response as HttpResponse, header::AUTHORIZATION};
use proto::services::Server as GeneratedServer;
use tonic::{body::Body, server::NamedService};
use tower::Service;

use super::*;
use crate::auth::Role;

/// A routed service that the descriptors lack.
#[derive(Clone)]
struct Undescribed;

impl NamedService for Undescribed {
    const NAME: &'static str = "guerdon.hidden.v1.HiddenService";
}

impl GeneratedServer for Undescribed {
    fn limited(self, _: usize) -> Self {
        self
    }
}

impl Service<http::Request<Body>> for Undescribed {
    type Response = HttpResponse<Body>;
    type Error = std::convert::Infallible;
    type Future = Ready<Result<HttpResponse<Body>, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: http::Request<Body>) -> Self::Future {
        ready(Ok(HttpResponse::new(Body::empty())))
    }
}

/// Calls a path without a message, and returns the code in the response's headers.
async fn code_at(url: &str, path: &str, authorization: Option<&str>) -> tonic::Code {
    let mut request = http::Request::post(path).header("content-type", "application/grpc");
    if let Some(authorization) = authorization {
        request = request.header(AUTHORIZATION, authorization);
    }
    let request = request.body(Body::empty()).unwrap();
    let response = client::connect("test", url, None).unwrap().call(request);
    crate::grpc::code_of(&response.await.unwrap())
}

pub(super) async fn bind(settings: &config::Grpc) -> Server {
    let verifier = TokenVerifier::fixed(&issuer().jwks_json()).unwrap();
    let listen = "127.0.0.1:0".parse().unwrap();
    Server::bind(
        listen,
        settings,
        &Tls::default(),
        verifier,
        Readiness::default(),
    )
    .await
    .unwrap()
}

/// Serves until the end of the test.
pub(super) fn run(server: Server) -> (String, tokio_util::sync::DropGuard) {
    let url = format!("http://{}", server.local_addr());
    let stop = CancellationToken::new();
    tokio::spawn(server.serve(stop.clone()));
    (url, stop.drop_guard())
}

#[tokio::test]
async fn the_table_of_rpcs_is_enforced() {
    let server = start().await;
    for (kind, subject, expected) in [
        (Kind::Service, "gateway", tonic::Code::Ok),
        (Kind::Service, "orders-svc", tonic::Code::PermissionDenied),
        (Kind::Service, "", tonic::Code::PermissionDenied),
        (Kind::User, "gateway", tonic::Code::PermissionDenied),
        (Kind::Key, "gateway", tonic::Code::PermissionDenied),
    ] {
        let caller = Caller {
            kind,
            subject: subject.to_owned(),
            roles: vec![Role::Admin],
        };
        let token = issuer().issue(Grant {
            caller: &caller,
            version: 0,
            now: Clock::system().now(),
            lifetime: Duration::from_mins(1),
            id: "t",
        });
        let mut request = Request::new(IssueAnonymousTokenRequest {});
        let header = format!("Bearer {token}").parse().unwrap();
        request.metadata_mut().insert("authorization", header);
        let result = server.anonymous().issue_anonymous_token(request).await;
        let code = result.map_or_else(|status| status.code(), |_| tonic::Code::Ok);
        assert_eq!(code, expected, "{kind:?} {subject}");
    }
}

#[tokio::test]
async fn a_service_that_the_descriptors_lack_is_not_open() {
    let server = bind(&config::Grpc::default()).await;
    let (url, _stop) = run(server.add_service(Undescribed));
    let token = format!("Bearer {}", token(&issuer(), "gateway"));
    for path in [
        "/guerdon.hidden.v1.HiddenService/Open",
        "/guerdon.identity.v1.AuthService/Nonsense",
        "/grpc.health",
        "/",
    ] {
        let anonymous = code_at(&url, path, None).await;
        assert_eq!(anonymous, tonic::Code::Unauthenticated, "{path}");
        let known = code_at(&url, path, Some(&token)).await;
        assert_eq!(known, tonic::Code::Unimplemented, "{path}");
    }
}

#[tokio::test]
async fn reflection_is_served_on_request_only() {
    const PATH: &str = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
    for (args, expected) in [
        (&[][..], tonic::Code::Unimplemented),
        (&["--grpc-reflection"][..], tonic::Code::Ok),
    ] {
        let settings = config::from_args(args).unwrap();
        let (url, _stop) = run(bind(&settings).await);
        assert_eq!(code_at(&url, PATH, None).await, expected, "{args:?}");
    }
}

#[tokio::test]
async fn only_imports_take_large_requests() {
    let service = || {
        AuthServiceServer::new(Identity {
            issuer: issuer(),
            probe: Probe::default(),
        })
    };
    let settings = config::Grpc::default();
    let (small, _stop) = run(bind(&settings).await.add_service(service()));
    let (large, _stop_large) = run(bind(&settings).await.add_import_service(service()));
    for (url, expected) in [
        (small, tonic::Code::OutOfRange),
        (large, tonic::Code::FailedPrecondition),
    ] {
        let fetch = || async { Ok(token(&issuer(), "gateway")) }.boxed();
        let channel = client::connect("test", &url, Some(ServiceToken::new(fetch))).unwrap();
        let mut client: AuthServiceClient<client::Client> = channel.service();
        let request = key(&"x".repeat(DEFAULT_LIMIT + 1));
        let status = client.exchange_api_key(request).await.unwrap_err();
        assert_eq!(status.code(), expected);
    }
}
