//! The middleware around every route: limits, request id, trace, deadline, panics, problems, and bodies
//! left unread.

use std::{net::SocketAddr, time::Duration};

use axum::{
    Router, ServiceExt,
    body::Body,
    extract::{MatchedPath, Request, connect_info::IntoMakeServiceWithConnectInfo},
    http::{HeaderValue, Method, StatusCode, Uri, header},
    middleware::{Next, from_fn, from_fn_with_state},
    response::{IntoResponse as _, Response},
};
use platform::{
    error::{Code, Failure},
    grpc::deadline,
    telemetry,
};
use tokio::time::Instant;
use tower::{
    Layer as _,
    util::{MapRequest, MapRequestLayer},
};
use tower_http::catch_panic::CatchPanicLayer;
use tracing::{Instrument as _, field::Empty};

use crate::{App, access::open_mode, error, error::Problem, ops, request_id, router, unread_body};

/// Deadline of a request.
const DEADLINE: Duration = Duration::from_secs(30);
/// Most bytes of a URL.
const MAX_URL: usize = 32 * 1024;
/// Most bytes of all header names and values.
const MAX_HEADERS: usize = 32 * 1024;

/// Builds the HTTP service. A trailing slash is ignored: it is cut before routing.
pub(crate) fn service(
    app: &App,
) -> IntoMakeServiceWithConnectInfo<MapRequest<Router, CutSlash>, SocketAddr> {
    let panicked = |cause: Box<dyn std::any::Any + Send>| -> Response<Body> {
        let cause = cause
            .downcast_ref::<&str>()
            .copied()
            .unwrap_or("a handler panicked")
            .to_owned();
        Problem(Failure::internal(cause)).into_response()
    };
    // The last layer is the outermost. Problems are rendered outside of all that makes them, but
    // inside the span whose trace id they show.
    let router: Router = router::router(app)
        .layer(from_fn(limit))
        .merge(ops::router())
        .fallback(|| async { StatusCode::NOT_FOUND })
        .layer(from_fn(options))
        .layer(from_fn_with_state(app.clone(), open_mode::guard))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn(error::render))
        .layer(from_fn(trace))
        .layer(from_fn_with_state(app.clone(), request_id::assign))
        .layer(from_fn(unread_body::finish))
        .with_state(app.clone());
    let service = MapRequestLayer::new(cut_slash as CutSlash).layer(router);
    ServiceExt::<Request>::into_make_service_with_connect_info(service)
}

type CutSlash = fn(Request) -> Request;

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
async fn limit(request: Request, next: Next) -> Response {
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
    let end = Instant::now() + DEADLINE;
    let response = deadline::within(Some(end), tokio::time::timeout_at(end, next.run(request)));
    response.await.unwrap_or_else(|_| {
        refuse(
            Code::Timeout,
            format!("no response within {} seconds", DEADLINE.as_secs()),
        )
    })
}

/// Responds to OPTIONS with the methods of the path.
async fn options(request: Request, next: Next) -> Response {
    let is_options = request.method() == Method::OPTIONS;
    let mut response = next.run(request).await;
    if is_options && response.status() == StatusCode::METHOD_NOT_ALLOWED {
        *response.status_mut() = StatusCode::NO_CONTENT;
        response.headers_mut().remove(header::CONTENT_LENGTH);
    }
    response
}

/// Traces, logs and measures each request, named after its route: ids are no names.
async fn trace(request: Request, next: Next) -> Response {
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or("unmatched", MatchedPath::as_str);
    let method = request.method().clone();
    let span = tracing::info_span!(
        "http.request",
        otel.name = %format_args!("{method} {route}"),
        otel.kind = "server",
        http.request.method = %method,
        http.route = route,
        http.response.status_code = Empty,
        otel.status_code = Empty,
    );
    if let Some(parent) = request
        .headers()
        .get("traceparent")
        .map(HeaderValue::to_str)
    {
        telemetry::set_parent(&span, parent.unwrap_or_default());
    }
    let route = route.to_owned();
    let started = Instant::now();
    let response = next.run(request).instrument(span.clone()).await;
    let (status, elapsed) = (response.status(), started.elapsed());
    span.record("http.response.status_code", status.as_u16());
    if status.is_server_error() {
        span.record("otel.status_code", "ERROR");
    }
    span.in_scope(|| {
        let (status, ms) = (status.as_u16(), elapsed.as_millis());
        tracing::info!(%method, route, status, ms, "gateway: request completed");
    });
    metrics::histogram!("http_request_duration_seconds", "method" => method.to_string(),
        "route" => route, "status" => status.as_u16().to_string())
    .record(elapsed.as_secs_f64());
    response
}
