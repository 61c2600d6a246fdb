//! Pages that need no credentials: probes, metrics and the API reference.

use axum::{
    Extension, Router,
    extract::State,
    http::{StatusCode, header},
    response::{Html, IntoResponse, Response},
    routing::get,
};
use serde::Serialize;
use utoipa_swagger_ui::{Config, SwaggerUi};

use crate::{App, error::OwnBody, openapi};

/// Builds the router of these pages.
pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/livez", get(|| async { "ok" }))
        .route("/readyz", get(readyz))
        .route(
            "/metrics",
            get(|State(app): State<App>| async move { app.metrics.render() }),
        )
        .route(
            "/docs/errors",
            get(|| async { Html(openapi::errors_page()) }),
        )
        .route("/openapi.json", get(openapi_json))
        .merge(SwaggerUi::new("/docs").config(Config::from("/openapi.json")))
}

/// The body of `/readyz`.
#[derive(Debug, Serialize)]
struct Readyz {
    ready: bool,
    /// The services that cannot be reached or are not ready themselves.
    missing: Vec<&'static str>,
}

async fn openapi_json() -> impl IntoResponse {
    let content_type = [(header::CONTENT_TYPE, "application/json")];
    (content_type, openapi::DOCUMENT)
}

async fn readyz(State(app): State<App>) -> Response {
    let report = app.readiness.report();
    let failed = report
        .checks
        .iter()
        .filter(|check| check.required && !check.ok);
    let body = Readyz {
        ready: report.ready,
        missing: failed.map(|check| check.name).collect(),
    };
    let status = if report.ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    let body = serde_json::to_string(&body).expect("strings and a flag are JSON");
    let content_type = [(header::CONTENT_TYPE, "application/json")];
    (status, Extension(OwnBody), content_type, body).into_response()
}
