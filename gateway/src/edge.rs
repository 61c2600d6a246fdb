//! The middleware around every route: limits, request id, trace, deadline, panics, problems, and bodies
//! left unread.

use std::{any::Any, panic::AssertUnwindSafe, time::Duration};

use axum::{
    Router,
    extract::{MatchedPath, Request, State},
    http::{HeaderValue, Method, StatusCode, Uri, header},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse as _, Response},
};
use futures::FutureExt as _;
use platform::{
    error::{Code, Failure},
    grpc::deadline,
    telemetry,
};
use tokio::time::Instant;
use tower::{
    Layer as _,
    util::{MapRequest, MapRequestLayer, MapResponse, MapResponseLayer},
};
use tracing::{Instrument as _, field::Empty};

use crate::{
    App, access::open_mode, client_address, cors, cors::Origins, error, error::Problem, host,
    pages, rate_limit, request_id, router, security_headers, unread_body,
};

/// Most bytes of a URL.
const MAX_URL: usize = 32 * 1024;
/// Most bytes of all header names and values.
const MAX_HEADERS: usize = 32 * 1024;

/// Builds the HTTP service, which gives each request this time, and lets pages of these origins use it.
/// A trailing slash is ignored: it is cut before routing.
pub(crate) fn service(
    app: &App,
    origins: Origins,
    deadline: Duration,
) -> MapRequest<MapResponse<Router, Complete>, CutSlash> {
    let edge = Edge {
        app: app.clone(),
        origins,
    };
    let router: Router = router::router(app)
        .layer(from_fn_with_state(deadline, limit))
        .merge(
            pages::router()
                .fallback(|| async { StatusCode::NOT_FOUND })
                .layer(from_fn_with_state(app.clone(), rate_limit::by_address)),
        )
        .layer(from_fn_with_state(edge, around))
        .with_state(app.clone());
    let router = MapResponseLayer::new(complete as Complete).layer(router);
    MapRequestLayer::new(cut_slash as CutSlash).layer(router)
}

/// What the layer around every route needs.
#[derive(Debug, Clone)]
struct Edge {
    app: App,
    origins: Origins,
}

/// Calls all that stands around every route, from the outside in: one layer, as a request would clone each.
async fn around(State(edge): State<Edge>, request: Request, next: Next) -> Response {
    let Edge { app, origins } = &edge;
    unread_body::finish(request, async |request| {
        security_headers::set(request, async |request| {
            cors::apply(origins, request, async |mut request| {
                client_address::assign(app, &mut request);
                request_id::assign(app, request, async |request| {
                    trace(request, async |request| inside(app, request, next).await).await
                })
                .await
            })
            .await
        })
        .await
    })
    .await
}

/// Calls what stands inside the span of a request. Problems are rendered outside of all that makes them, and
/// show the trace id of the span.
async fn inside(app: &App, request: Request, next: Next) -> Response {
    error::render(request, async |request| {
        if let Some(refusal) = refusal(app, &request) {
            return refusal;
        }
        let response = AssertUnwindSafe(options(request, next)).catch_unwind();
        response.await.unwrap_or_else(|cause| panicked(&*cause))
    })
    .await
}

/// Returns the refusal of a request that none of the routes may get.
fn refusal(app: &App, request: &Request) -> Option<Response> {
    let checked = open_mode::guard(app, request).and_then(|()| host::check(request));
    match checked {
        Err(failure) => Some(Problem(failure).into_response()),
        Ok(()) => unknown_method(request),
    }
}

fn panicked(cause: &(dyn Any + Send)) -> Response {
    let cause = cause.downcast_ref::<&str>().copied();
    let cause = cause.unwrap_or("a handler panicked").to_owned();
    Problem(Failure::internal(cause)).into_response()
}

type CutSlash = fn(Request) -> Request;
type Complete = fn(Response) -> Response;

/// Completes what depends on the headers that the router sets last: those of lengths and of methods.
fn complete(mut response: Response) -> Response {
    let has_no_length = matches!(
        response.status(),
        StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED
    );
    if has_no_length {
        // Of an empty body the router says that it has 0 bytes (RFC 9110, 8.6).
        response.headers_mut().remove(header::CONTENT_LENGTH);
    }
    cors::answer_preflight(&mut response);
    response
}

/// Cuts a trailing slash, except for the API reference, whose relative links need it.
fn cut_slash(mut request: Request) -> Request {
    let path = request.uri().path();
    let trimmed = path.trim_end_matches('/');
    if trimmed.is_empty() || trimmed.len() == path.len() || path.starts_with("/docs/") {
        return request;
    }
    let query = request
        .uri()
        .query()
        .map(|query| format!("?{query}"))
        .unwrap_or_default();
    let mut parts = request.uri().clone().into_parts();
    parts.path_and_query = format!("{trimmed}{query}").parse().ok();
    if let Ok(uri) = Uri::from_parts(parts) {
        *request.uri_mut() = uri;
    }
    request
}

/// Refuses large URLs and headers, and applies the deadline.
async fn limit(State(time): State<Duration>, request: Request, next: Next) -> Response {
    let refuse = |code: Code, detail: String| Problem(Failure::new(code, detail)).into_response();
    let url = request
        .uri()
        .path_and_query()
        .map_or(0, |url| url.as_str().len());
    if url > MAX_URL {
        return refuse(Code::UriTooLong, format!("at most {MAX_URL} bytes"));
    }
    let headers: usize = request
        .headers()
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len())
        .sum();
    if headers > MAX_HEADERS {
        return refuse(
            Code::HeadersTooLarge,
            format!("at most {MAX_HEADERS} bytes"),
        );
    }
    let end = Instant::now() + time;
    let response = deadline::within(Some(end), tokio::time::timeout_at(end, next.run(request)));
    response.await.unwrap_or_else(|_| {
        refuse(
            Code::Timeout,
            format!("no response within {} seconds", time.as_secs()),
        )
    })
}

/// The methods of routes, as `Allow` lists them.
const METHODS: &str = "GET,HEAD,POST,PATCH,DELETE,OPTIONS";

/// Returns the name of a method of HTTP, and another name for what else a client may write: each name
/// is a series of metrics, and stands in logs and spans.
fn name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        Method::TRACE => "TRACE",
        Method::CONNECT => "CONNECT",
        _ => UNKNOWN,
    }
}

/// The name of all methods that are not of HTTP, as OpenTelemetry's conventions have it.
const UNKNOWN: &str = "_OTHER";

/// Refuses methods that no route has, whatever the path: those that are not of HTTP, and that of proxies.
fn unknown_method(request: &Request) -> Option<Response> {
    if name(request.method()) != UNKNOWN && request.method() != Method::CONNECT {
        return None;
    }
    let refusal = Problem(Failure::new(
        Code::MethodNotAllowed,
        "no route has this method",
    ));
    Some(([(header::ALLOW, METHODS)], refusal).into_response())
}

/// Responds to OPTIONS with the methods of the path, or of all for `*`.
async fn options(request: Request, next: Next) -> Response {
    let is_options = request.method() == Method::OPTIONS;
    if is_options && request.uri().path() == "*" {
        return (StatusCode::NO_CONTENT, [(header::ALLOW, METHODS)]).into_response();
    }
    let mut response = next.run(request).await;
    if is_options && response.status() == StatusCode::METHOD_NOT_ALLOWED {
        *response.status_mut() = StatusCode::NO_CONTENT;
        response.headers_mut().remove(header::CONTENT_LENGTH);
    }
    response
}

/// Traces, logs and measures each request, named after its route: ids are no names. Each starts a trace,
/// linked to the client's: a client must not decide which traces are sampled.
async fn trace(request: Request, next: impl AsyncFnOnce(Request) -> Response) -> Response {
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or("unmatched", MatchedPath::as_str);
    let method = name(request.method());
    let span = tracing::info_span!(
        "http.request",
        otel.name = %format_args!("{method} {route}"),
        otel.kind = "server",
        http.request.method = method,
        http.route = route,
        http.response.status_code = Empty,
        otel.status_code = Empty,
    );
    if let Some(parent) = request
        .headers()
        .get("traceparent")
        .map(HeaderValue::to_str)
    {
        telemetry::set_link(&span, parent.unwrap_or_default());
    }
    let route = route.to_owned();
    let started = Instant::now();
    let response = next(request).instrument(span.clone()).await;
    let (status, elapsed) = (response.status(), started.elapsed());
    span.record("http.response.status_code", status.as_u16());
    if status.is_server_error() {
        span.record("otel.status_code", "ERROR");
    }
    span.in_scope(|| {
        let (status, ms) = (status.as_u16(), elapsed.as_millis());
        tracing::info!(method, route, status, ms, "gateway: request completed");
    });
    metrics::histogram!("http_request_duration_seconds", "method" => method,
        "route" => route, "status" => status.as_u16().to_string())
    .record(elapsed.as_secs_f64());
    response
}
