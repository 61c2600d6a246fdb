//! Pages that need no credentials: the home page and the API reference.

use axum::{
    Router,
    http::{HeaderMap, header},
    response::{Html, IntoResponse, Response},
    routing::get,
};
use serde_json::json;
use utoipa_swagger_ui::{Config, SwaggerUi};

use crate::{App, openapi};

/// Builds the router of these pages.
pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/", get(home))
        .route(
            "/docs/errors",
            get(|| async { Html(openapi::errors_page()) }),
        )
        .route("/openapi.json", get(openapi_json))
        .merge(SwaggerUi::new("/docs").config(Config::from("/openapi.json")))
}

/// Says what this is and where its documentation stands: to people as a page, to programs as JSON.
async fn home(headers: HeaderMap) -> Response {
    let accepted = headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok());
    if accepted.is_some_and(|types| types.contains("text/html")) {
        return Html(include_str!("home.html")).into_response();
    }
    let about = json!({ "data": {
        "name": "Guerdon",
        "version": env!("CARGO_PKG_VERSION"),
        "docs": "/docs/",
        "errors": "/docs/errors",
        "openapi": "/openapi.json",
    }});
    json_text(about.to_string())
}

async fn openapi_json() -> Response {
    json_text(openapi::DOCUMENT)
}

fn json_text(text: impl IntoResponse) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}
