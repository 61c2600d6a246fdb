//! The transport of generated clients: lazy, bounded in time and number, traced and authenticated.
//!
//! No retries here: only the use case knows whether a call may be made twice.

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
use tonic::{
    Status,
    body::Body,
    transport::{Channel, Endpoint},
};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};
use tower::{Service, ServiceExt as _};
use tracing::{Instrument as _, Span, field::Empty, info_span};

use super::{MAX_MESSAGE, code_of, deadline, method};
use crate::{
    auth::ServiceToken,
    error::{Code, Failure},
    telemetry,
};

/// How long a call may take, from waiting for a connection to the answer's headers: short enough
/// for the gateway to answer 503 within three seconds. A request's own `set_timeout` overrides it,
/// the caller's deadline bounds both.
pub const TIMEOUT: Duration = Duration::from_millis(2900);

/// How many calls may wait on one dependency; more are refused at once, so that a slow one can't
/// take the whole process with it.
const IN_FLIGHT: usize = 1024;

const CONNECT: Duration = Duration::from_secs(1);
const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// A connection to one dependency. Cloning is cheap and shares it.
#[derive(Debug, Clone)]
pub struct Client {
    name: &'static str,
    channel: Channel,
    slots: Arc<Semaphore>,
    token: Option<ServiceToken>,
}

/// A client of the dependency `name` at `url`. Connects on the first call and reconnects for ever;
/// needs a tokio runtime. Fails on a malformed url only.
pub fn connect(
    name: &'static str,
    url: &str,
    token: Option<ServiceToken>,
) -> anyhow::Result<Client> {
    let endpoint = Endpoint::from_shared(url.to_owned())
        .with_context(|| format!("the address of {name}: {url}"))?
        .connect_timeout(CONNECT)
        .tcp_nodelay(true)
        .http2_keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(CONNECT)
        .keep_alive_while_idle(true);
    let slots = Arc::new(Semaphore::new(IN_FLIGHT));
    Ok(Client {
        name,
        channel: endpoint.connect_lazy(),
        slots,
        token,
    })
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
    /// Creates a generated client over this connection: `users: UserServiceClient<Client>`.
    pub fn service<S: GeneratedClient<Self>>(&self) -> S {
        S::limited(self.clone(), MAX_MESSAGE)
    }

    /// Whether the dependency says it is ready: a check for [`crate::lifecycle::Readiness`].
    pub async fn ready(&self) -> anyhow::Result<()> {
        let request = HealthCheckRequest::default();
        let answer = HealthClient::new(self.clone()).check(request).await;
        let answer = answer.map_err(|status| anyhow::anyhow!(telemetry::chain(&status)))?;
        let is_serving = answer.get_ref().status() == ServingStatus::Serving;
        anyhow::ensure!(is_serving, "{} is not ready", self.name);
        Ok(())
    }

    async fn traced(self, request: Request<Body>) -> Result<Response<Body>, Status> {
        let Some(method) = method::find(request.uri().path()) else {
            // Health checks: too many to be worth a span each.
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
            return Err(self.unavailable("too many calls in flight"));
        };
        let own = deadline::parse(request.headers()).unwrap_or(TIMEOUT);
        let limit = deadline::remaining().map_or(own, |rest| rest.min(own));
        if limit.is_zero() {
            let late = Failure::new(Code::Timeout, "no time is left");
            return Err(late.into());
        }
        let headers = request.headers_mut();
        headers.insert(deadline::GRPC_TIMEOUT, deadline::format(limit));
        if let Some(parent) = telemetry::current_traceparent() {
            let value = HeaderValue::try_from(parent).expect("hex and dashes are a header value");
            headers.insert("traceparent", value);
        }
        let answer = tokio::time::timeout(limit, self.exchange(request)).await;
        answer.unwrap_or_else(|_| Err(self.unavailable(format!("no answer in {limit:?}"))))
    }

    async fn exchange(&self, mut request: Request<Body>) -> Result<Response<Body>, Status> {
        let ours = self.sign(&mut request).await?;
        let mut channel = self.channel.clone();
        let ready = channel
            .ready()
            .await
            .map_err(|error| self.unavailable(error))?;
        let response = ready
            .call(request)
            .await
            .map_err(|error| self.unavailable(error))?;
        match (&self.token, ours) {
            // Our own credentials failed: that is never the caller's fault.
            (Some(token), Some(value)) if refuses_token(&response) => {
                token.forget(&value);
                Err(self.unavailable("it refused our service token"))
            }
            _ => Ok(response),
        }
    }

    /// Adds the process's own token, unless the request speaks for somebody else.
    async fn sign(&self, request: &mut Request<Body>) -> Result<Option<HeaderValue>, Failure> {
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

/// Whether the server refused the token, and not what the request says: only that is challenged.
fn refuses_token<B>(response: &Response<B>) -> bool {
    code_of(response) == tonic::Code::Unauthenticated
        && response.headers().contains_key(WWW_AUTHENTICATE)
}

/// Puts the outcome on the span; only faults are errors of a trace.
pub(super) fn observe(span: &Span, code: tonic::Code) {
    span.record("rpc.grpc.status_code", code as i32);
    if is_fault(code) {
        span.record("otel.status_code", "ERROR");
    }
}

/// Whether the answer is a fault of ours and not a refusal.
pub(super) fn is_fault(code: tonic::Code) -> bool {
    use tonic::Code::{DataLoss, DeadlineExceeded, Internal, Unavailable, Unimplemented, Unknown};
    matches!(
        code,
        Unknown | DeadlineExceeded | Unimplemented | Internal | Unavailable | DataLoss
    )
}

/// The code as the label of a metric.
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
