//! Pages that need no credentials: the home page and the API reference.

use axum::{
    Router,
    http::{HeaderMap, header},
    middleware::from_fn_with_state,
    response::{Html, IntoResponse, Response},
    routing::{MethodRouter, get},
};
use serde_json::json;
use utoipa_swagger_ui::{Config, SwaggerUi};

use crate::{App, openapi, representation::media_type};

const JSON: &str = "application/json";
const HTML: &str = "text/html";
/// The forms of the home page. Programs that accept anything get JSON.
const HOME: &[&str] = &[JSON, HTML];

/// Builds the router of these pages.
pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/", produces(get(home), HOME))
        .route("/docs/errors", produces(get(errors), &[HTML]))
        .route("/openapi.json", produces(get(openapi_json), &[JSON]))
        .merge(SwaggerUi::new("/docs").config(Config::from("/openapi.json")))
}

/// Refuses requests that accept none of these media types.
fn produces(page: MethodRouter<App>, offered: &'static [&'static str]) -> MethodRouter<App> {
    page.route_layer(from_fn_with_state(offered, media_type::require))
}

/// Says what this is and where its documentation stands: to people as a page, to programs as JSON.
async fn home(headers: HeaderMap) -> Response {
    if media_type::preferred(&headers, HOME) == Some(HTML) {
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

async fn errors() -> Html<String> {
    Html(openapi::errors_page())
}

async fn openapi_json() -> Response {
    json_text(openapi::DOCUMENT)
}

fn json_text(text: impl IntoResponse) -> Response {
    ([(header::CONTENT_TYPE, JSON)], text).into_response()
}
