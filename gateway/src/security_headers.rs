//! Headers that tell browsers and caches what they may do with a response.

use axum::{
    extract::Request,
    http::{HeaderName, HeaderValue, header},
    response::Response,
};

/// Headers of every response that does not set them itself. Responses hold personal data, so nobody
/// stores them; nothing of them is a page.
const DEFAULTS: [(HeaderName, HeaderValue); 5] = [
    (
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    ),
    (
        header::REFERRER_POLICY,
        HeaderValue::from_static("no-referrer"),
    ),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"),
    ),
];

/// The policy of the pages under `/` and `/docs`: they load what the gateway itself serves, and have
/// style elements.
const OF_PAGES: HeaderValue = HeaderValue::from_static(
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
     frame-ancestors 'none'",
);

/// Sets the headers that a response lacks.
pub(crate) async fn set(request: Request, next: impl AsyncFnOnce(Request) -> Response) -> Response {
    let path = request.uri().path();
    let is_page = path == "/" || path == "/docs" || path.starts_with("/docs/");
    let mut response = next(request).await;
    let headers = response.headers_mut();
    if is_page {
        headers.insert(header::CONTENT_SECURITY_POLICY, OF_PAGES);
    }
    for (name, value) in DEFAULTS {
        headers.entry(name).or_insert(value);
    }
    response
}
