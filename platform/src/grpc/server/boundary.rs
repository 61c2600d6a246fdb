//! The layer around every RPC: trace, authentication, limit of lists, deadline, panics, metrics, one log
//! line.

use std::{
    convert::Infallible,
    error::Error,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use http::{
    HeaderMap, HeaderValue, Request, Response,
    header::{AUTHORIZATION, WWW_AUTHENTICATE},
};
use proto::access::Clients;
use tokio::time::timeout;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tonic::{Status, body::Body};
use tower::{Layer, Service};
use tracing::{Instrument as _, Span, debug, error, field::Empty, info_span, warn};

use super::{
    lists::{ListLimit, Turn},
    shutdown::ShutdownStream,
};
use crate::{
    audit,
    auth::{Caller, TokenVerifier},
    error::{Code, Failure},
    grpc::{
        access,
        client::{code_label, is_fault, observe},
        code_of, deadline,
        method::{self, Method},
    },
    telemetry::{self, LogLimit},
};

/// The services of tools, which anybody may call. All other RPCs are those of the descriptors.
const TOOLS: [&str; 2] = ["/grpc.health.", "/grpc.reflection."];

/// How long a handler runs on after its caller's deadline at most. It ends what waits for a peer that
/// is gone without closing the connection, such as a statement.
const HANDLER_TIMEOUT: Duration = Duration::from_mins(1);

/// The layer.
#[derive(Clone)]
pub(super) struct Boundary(Arc<Shared>);

struct Shared {
    verifier: TokenVerifier,
    lists: ListLimit,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Boundary {
    pub(super) fn new(
        verifier: TokenVerifier,
        tasks: TaskTracker,
        stop: CancellationToken,
    ) -> Self {
        Self(Arc::new(Shared {
            verifier,
            lists: ListLimit::default(),
            tasks,
            stop,
        }))
    }
}

impl<S> Layer<S> for Boundary {
    type Service = Guarded<S>;

    fn layer(&self, inner: S) -> Guarded<S> {
        Guarded {
            inner,
            shared: Arc::clone(&self.0),
        }
    }
}

/// The routes behind the layer.
#[derive(Clone)]
pub(super) struct Guarded<S> {
    inner: S,
    shared: Arc<Shared>,
}

impl<S> Service<Request<Body>> for Guarded<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let next = self.inner.clone();
        let ready = std::mem::replace(&mut self.inner, next);
        let shared = Arc::clone(&self.shared);
        Box::pin(async move { Ok(shared.handle(ready, request).await) })
    }
}

impl Shared {
    async fn handle<S>(&self, mut inner: S, request: Request<Body>) -> Response<Body>
    where
        S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
        S::Future: Send + 'static,
    {
        let path = request.uri().path();
        let Some(method) = method::find(path) else {
            if !TOOLS.iter().any(|prefix| path.starts_with(prefix)) {
                return self.refuse_unknown(request.headers()).await;
            }
            let Ok(response) = inner.call(request).await;
            return self.end_at_shutdown(response);
        };
        let started = Instant::now();
        let span = span(method, request.headers());
        let response = self
            .run(inner, method, request)
            .instrument(span.clone())
            .await;
        let code = code_of(&response);
        observe(&span, code);
        span.in_scope(|| log(method, code, response.extensions().get()));
        let elapsed = started.elapsed().as_secs_f64();
        metrics::histogram!("grpc_server_duration_seconds", "method" => &*method.label,
            "code" => code_label(code))
        .record(elapsed);
        if method.streams {
            self.end_at_shutdown(response)
        } else {
            response
        }
    }

    /// Authenticates the request and runs the handler in its own task. A client that disconnects, or
    /// a deadline that passes, ends the wait and does not cancel the handler; [`HANDLER_TIMEOUT`] does.
    async fn run<S>(
        &self,
        mut inner: S,
        method: &Method,
        mut request: Request<Body>,
    ) -> Response<Body>
    where
        S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
        S::Future: Send + 'static,
    {
        let caller = match self.authenticate(method, request.headers()).await {
            Ok(caller) => caller,
            Err(failure) => return refuse(failure),
        };
        if let Some(caller) = &caller {
            request.extensions_mut().insert(Caller::clone(caller));
        }
        let turn = match self.turn(method, request.extensions().get()).await {
            Ok(turn) => turn,
            Err(failure) => return error_response(failure),
        };
        let deadline = deadline::received(request.headers());
        let work = timeout(HANDLER_TIMEOUT, inner.call(request));
        let work = async move {
            let _turn = turn;
            audit::on_behalf_of(caller, work).await
        };
        let work = deadline::within(deadline, work);
        let task = self.tasks.spawn(work.in_current_span());
        let expired = async {
            match deadline {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            result = task => match result {
                Ok(Ok(Ok(response))) => response,
                Ok(Err(_elapsed)) => {
                    error_response(Failure::new(Code::Timeout, "the call took too long"))
                }
                Err(panic) => error_response(Failure::internal(panic)),
            },
            () = expired => {
                error_response(Failure::new(Code::Timeout, "the caller's deadline has passed"))
            }
        }
    }

    async fn authenticate(
        &self,
        method: &Method,
        headers: &HeaderMap,
    ) -> Result<Option<Arc<Caller>>, Failure> {
        // A token that is sent is valid, also where none is needed: the caller may be told apart by it.
        let open = method.access.clients == Clients::Anyone;
        if open && !headers.contains_key(AUTHORIZATION) {
            return Ok(None);
        }
        let caller = self.verify(headers).await?;
        if let Err(refusal) = access::admit(method.access, &caller) {
            if caller.is_service() {
                let (method, service) = (&*method.label, &*caller.subject);
                warn!(method, service, "rpc refused: its row lacks the service");
            }
            return Err(refusal);
        }
        // Services complete what was accepted already, also while revocations are not known.
        if !method.reads && !caller.is_service() {
            self.verifier.revocations().require_current()?;
        }
        Ok(Some(caller))
    }

    /// Waits for the turn of a list of this caller.
    async fn turn(
        &self,
        method: &Method,
        caller: Option<&Caller>,
    ) -> Result<Option<Turn>, Failure> {
        match caller.filter(|_| method.lists) {
            Some(caller) => self.lists.admit(caller).await.map(Some),
            None => Ok(None),
        }
    }

    async fn verify(&self, headers: &HeaderMap) -> Result<Arc<Caller>, Failure> {
        let token = headers
            .get(AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.strip_prefix("Bearer "))
            .ok_or_else(Caller::missing)?;
        self.verifier.verify(token).await
    }

    /// Refuses an RPC that the descriptors lack, also if a service is routed there: nothing says who
    /// may call it.
    async fn refuse_unknown(&self, headers: &HeaderMap) -> Response<Body> {
        match self.verify(headers).await {
            Ok(_) => Status::unimplemented("unknown RPC").into_http(),
            Err(failure) => refuse(failure),
        }
    }

    fn end_at_shutdown(&self, response: Response<Body>) -> Response<Body> {
        response.map(|body| Body::new(ShutdownStream::new(body, self.stop.clone())))
    }
}

/// Refuses a request before its handler. A token that is not valid gets a header that tells the client that
/// its token failed, and not other credentials that a handler checks (an API key, a password).
fn refuse(failure: Failure) -> Response<Body> {
    let is_token = failure.code == Code::Unauthenticated;
    let mut response = error_response(failure);
    if is_token {
        let bearer = HeaderValue::from_static("Bearer");
        response.headers_mut().insert(WWW_AUTHENTICATE, bearer);
    }
    response
}

fn error_response(failure: Failure) -> Response<Body> {
    Status::from(failure).into_http()
}

fn span(method: &Method, headers: &HeaderMap) -> Span {
    let span = info_span!(
        "grpc.server",
        otel.name = method.label,
        otel.kind = "server",
        rpc.system = "grpc",
        rpc.service = method.service,
        rpc.method = method.name,
        rpc.grpc.status_code = Empty,
        otel.status_code = Empty,
    );
    let parent = headers
        .get("traceparent")
        .and_then(|value| value.to_str().ok());
    if let Some(parent) = parent {
        telemetry::set_parent(&span, parent);
    }
    span
}

/// Logs a request: a fault with its causes, a refusal with its code only, as its text may quote the
/// input.
fn log(method: &Method, code: tonic::Code, status: Option<&Status>) {
    static UNAVAILABLE: LogLimit = LogLimit::new();
    let (method, label) = (&*method.label, code_label(code));
    let cause: Option<&(dyn Error + 'static)> = status.and_then(Error::source);
    match code {
        tonic::Code::Ok => debug!(method, "rpc completed"),
        tonic::Code::Unavailable | tonic::Code::DeadlineExceeded => {
            if let Some(left_out) = UNAVAILABLE.admit() {
                let left_out = (left_out > 0).then_some(left_out);
                warn!(
                    method,
                    code = label,
                    left_out,
                    error = cause,
                    "rpc unavailable"
                );
            }
        }
        _ if is_fault(code) => error!(method, code = label, error = cause, "rpc failed"),
        _ => debug!(method, code = label, "rpc refused"),
    }
}
