//! An id for every request, the client's own where it sent a usable one.

use axum::{
    extract::Request,
    http::{HeaderName, HeaderValue},
    response::Response,
};

use crate::App;

/// The header of requests and responses.
pub(crate) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

const MAX_LENGTH: usize = 128;

/// The id of a request, kept in its extensions.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestId(pub(crate) String);

/// Sets [`RequestId`] and returns it in the response.
pub(crate) async fn assign(
    app: &App,
    mut request: Request,
    next: impl AsyncFnOnce(Request) -> Response,
) -> Response {
    let given = request
        .headers()
        .get(X_REQUEST_ID)
        .and_then(|value| value.to_str().ok());
    let id = match given {
        Some(id) if !id.is_empty() && id.len() <= MAX_LENGTH => id.to_owned(),
        _ => app.ids.uuid().to_string(),
    };
    let header = HeaderValue::from_str(&id).expect("visible ASCII or a uuid");
    request.extensions_mut().insert(RequestId(id));
    let mut response = next(request).await;
    response.headers_mut().insert(X_REQUEST_ID, header);
    response
}
