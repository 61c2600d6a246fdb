//! The transport of generated clients: lazy, traced, authenticated, with a deadline and a limit of
//! concurrent calls.
//!
//! It does not retry: only the use case knows whether a call is safe to repeat.

mod replicas;

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use anyhow::Context as _;
use http::{
    HeaderValue, Request, Response,
    header::{AUTHORIZATION, WWW_AUTHENTICATE},
};
use proto::services::Client as GeneratedClient;
use tokio::sync::Semaphore;
use tonic::{Status, body::Body, transport::Endpoint};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};
use tower::{Service, ServiceExt as _};
use tracing::{Instrument as _, Span, field::Empty, info_span};

use self::replicas::Replicas;
use super::{MAX_MESSAGE, code_of, deadline, method};
use crate::{
    auth::ServiceToken,
    config::Tls,
    error::{Code, Failure},
    telemetry,
};

/// The timeout of a call, from waiting for a connection to the response's headers: short enough for
/// the gateway to respond 503 within three seconds. A request's own `set_timeout` overrides it; the
/// caller's deadline bounds both.
pub const TIMEOUT: Duration = Duration::from_millis(2900);

/// The most concurrent calls to one dependency. More are refused immediately: a slow dependency must
/// not exhaust the process.
const MAX_IN_FLIGHT: usize = 1024;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(5);

/// The connections to one dependency, one to each of its replicas. Cloning is cheap and shares them.
#[derive(Debug, Clone)]
pub struct Client {
    name: &'static str,
    replicas: Arc<Replicas>,
    slots: Arc<Semaphore>,
    token: Option<ServiceToken>,
}

/// Creates a connection without TLS; see [`connect_with`].
pub fn connect(
    name: &'static str,
    url: &str,
    token: Option<ServiceToken>,
) -> anyhow::Result<Client> {
    connect_with(name, url, &Tls::default(), token)
}

/// Creates a client of the dependency `name`, which connects on the first call and reconnects as long
/// as it lives; with TLS if the url begins with `https`. If the url's name has several addresses, or there
/// are several urls, separated by commas, calls take turns among those that are ready. Requires a tokio runtime. Fails only on a malformed url, and on
/// files of certificates that cannot be read.
pub fn connect_with(
    name: &'static str,
    url: &str,
    tls: &Tls,
    token: Option<ServiceToken>,
) -> anyhow::Result<Client> {
    let urls = url.split(',').map(str::trim);
    let endpoints = urls.map(|url| secured(name, url, tls));
    let endpoints = endpoints.collect::<anyhow::Result<Vec<_>>>()?;
    Ok(Client::new(name, Replicas::new(name, endpoints), token))
}

fn secured(name: &str, url: &str, tls: &Tls) -> anyhow::Result<Endpoint> {
    let endpoint = endpoint(url).with_context(|| format!("the address of {name}: {url}"))?;
    Ok(match endpoint.uri().scheme_str() {
        Some("https") => endpoint.tls_config(tls.client()?)?,
        _ => endpoint,
    })
}

/// Creates a client of replicas whose addresses a test knows.
#[cfg(test)]
pub(super) fn connect_to_replicas(
    name: &'static str,
    resolve: replicas::Resolve,
    token: ServiceToken,
) -> Client {
    let endpoint = endpoint("http://replicas.invalid:80").expect("a url");
    let replicas = Replicas::with_resolver(name, endpoint, resolve);
    Client::new(name, replicas, Some(token))
}

fn endpoint(url: &str) -> Result<Endpoint, tonic::transport::Error> {
    let endpoint = Endpoint::from_shared(url.to_owned())?
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_nodelay(true)
        .http2_keep_alive_interval(KEEP_ALIVE_INTERVAL)
        .keep_alive_timeout(CONNECT_TIMEOUT)
        .keep_alive_while_idle(true);
    Ok(endpoint)
}

impl Service<Request<Body>> for Client {
    type Response = Response<Body>;
    type Error = Status;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Status>> + Send>>;

    /// Always ready: waiting for the connection is part of the call, and of its time.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Status>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let client = self.clone();
        Box::pin(client.traced(request))
    }
}

impl Client {
    fn new(name: &'static str, replicas: Arc<Replicas>, token: Option<ServiceToken>) -> Self {
        Self {
            name,
            replicas,
            slots: Arc::new(Semaphore::new(MAX_IN_FLIGHT)),
            token,
        }
    }

    /// Creates a generated client over this connection: `users: UserServiceClient<Client>`.
    pub fn service<S: GeneratedClient<Self>>(&self) -> S {
        S::limited(self.clone(), MAX_MESSAGE)
    }

    /// Returns a client of the same connection that sends the process's own token.
    pub(crate) fn with_token(&self, token: ServiceToken) -> Self {
        let token = Some(token);
        Self {
            token,
            ..self.clone()
        }
    }

    /// Checks that the dependency is ready, for [`crate::lifecycle::Readiness`].
    pub async fn ready(&self) -> anyhow::Result<()> {
        let response = HealthClient::new(self.clone())
            .check(HealthCheckRequest::default())
            .await
            .map_err(|status| anyhow::anyhow!(telemetry::chain(&status)))?;
        let is_serving = response.get_ref().status() == ServingStatus::Serving;
        anyhow::ensure!(is_serving, "{} is not ready", self.name);
        Ok(())
    }

    async fn traced(self, request: Request<Body>) -> Result<Response<Body>, Status> {
        let Some(method) = method::find(request.uri().path()) else {
            // Health checks are too frequent for a span each.
            return self.send(request).await;
        };
        let label = &*method.label;
        let span = info_span!(
            "grpc.client",
            otel.name = label,
            otel.kind = "client",
            rpc.system = "grpc",
            peer.service = self.name,
            rpc.grpc.status_code = Empty,
            otel.status_code = Empty,
        );
        let started = Instant::now();
        let result = self.send(request).instrument(span.clone()).await;
        let code = result.as_ref().map_or_else(Status::code, code_of);
        observe(&span, code);
        let elapsed = started.elapsed().as_secs_f64();
        metrics::histogram!("grpc_client_duration_seconds", "dependency" => self.name,
            "method" => label, "code" => code_label(code))
        .record(elapsed);
        result
    }

    async fn send(&self, mut request: Request<Body>) -> Result<Response<Body>, Status> {
        let Ok(_slot) = self.slots.try_acquire() else {
            return Err(self.unavailable("too many concurrent calls"));
        };
        let timeout = deadline::parse(request.headers()).unwrap_or(TIMEOUT);
        let limit = deadline::remaining().map_or(timeout, |rest| rest.min(timeout));
        if limit.is_zero() {
            let expired = Failure::new(Code::Timeout, "the deadline has passed");
            return Err(expired.into());
        }
        let headers = request.headers_mut();
        headers.insert(deadline::GRPC_TIMEOUT, deadline::format(limit));
        if let Some(parent) = telemetry::current_traceparent() {
            let value = HeaderValue::try_from(parent).expect("hex and dashes are a header value");
            headers.insert("traceparent", value);
        }
        tokio::time::timeout(limit, self.exchange(request))
            .await
            .unwrap_or_else(|_| Err(self.unavailable(format!("no response within {limit:?}"))))
    }

    async fn exchange(&self, mut request: Request<Body>) -> Result<Response<Body>, Status> {
        let own_token = self.authorize(&mut request).await?;
        let mut connection = self.replicas.next();
        let sent = async { connection.channel.ready().await?.call(request).await }.await;
        let response = sent.map_err(|error| {
            connection.leave();
            self.unavailable(error)
        })?;
        match (&self.token, own_token) {
            // The process's own token failed, which is not the caller's fault.
            (Some(token), Some(value)) if refuses_token(&response) => {
                token.invalidate(&value);
                Err(self.unavailable("it refused the service token"))
            }
            _ => Ok(response),
        }
    }

    /// Adds the process's own token and returns it, unless the request carries another.
    async fn authorize(&self, request: &mut Request<Body>) -> Result<Option<HeaderValue>, Failure> {
        let Some(token) = &self.token else {
            return Ok(None);
        };
        if request.headers().contains_key(AUTHORIZATION) {
            return Ok(None);
        }
        let value = token.header().await?;
        request.headers_mut().insert(AUTHORIZATION, value.clone());
        Ok(Some(value))
    }

    fn unavailable(&self, cause: impl Into<crate::error::Source>) -> Status {
        Failure::unavailable(self.name).with_source(cause).into()
    }
}

/// Whether the server's layer refused the token; a handler that refuses other credentials sends no
/// challenge.
fn refuses_token<B>(response: &Response<B>) -> bool {
    code_of(response) == tonic::Code::Unauthenticated
        && response.headers().contains_key(WWW_AUTHENTICATE)
}

/// Records the code on the span; only faults are errors of a trace.
pub(super) fn observe(span: &Span, code: tonic::Code) {
    span.record("rpc.grpc.status_code", code as i32);
    if is_fault(code) {
        span.record("otel.status_code", "ERROR");
    }
}

/// Tells a fault of Guerdon from a refusal.
pub(super) fn is_fault(code: tonic::Code) -> bool {
    use tonic::Code::{DataLoss, DeadlineExceeded, Internal, Unavailable, Unimplemented, Unknown};
    matches!(
        code,
        Unknown | DeadlineExceeded | Unimplemented | Internal | Unavailable | DataLoss
    )
}

/// Returns the code as the label of a metric.
pub(super) fn code_label(code: tonic::Code) -> &'static str {
    use tonic::Code;
    match code {
        Code::Ok => "ok",
        Code::Cancelled => "cancelled",
        Code::Unknown => "unknown",
        Code::InvalidArgument => "invalid_argument",
        Code::DeadlineExceeded => "deadline_exceeded",
        Code::NotFound => "not_found",
        Code::AlreadyExists => "already_exists",
        Code::PermissionDenied => "permission_denied",
        Code::ResourceExhausted => "resource_exhausted",
        Code::FailedPrecondition => "failed_precondition",
        Code::Aborted => "aborted",
        Code::OutOfRange => "out_of_range",
        Code::Unimplemented => "unimplemented",
        Code::Internal => "internal",
        Code::Unavailable => "unavailable",
        Code::DataLoss => "data_loss",
        Code::Unauthenticated => "unauthenticated",
    }
}
