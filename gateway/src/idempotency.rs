//! Reads the `Idempotency-Key` of POST requests. The service that owns the effect keeps the record; the
//! gateway only says under which key, for which route and with which body it was asked.

use std::fmt::Write as _;

use axum::{
    body::Body,
    extract::{Request, State},
    http::Method,
    middleware::Next,
    response::Response,
};
use hmac::{Hmac, Mac as _};
use platform::error::Failure;
use secrecy::ExposeSecret as _;
use sha2::Sha256;
use tonic::metadata::MetadataValue;

use crate::{
    App,
    error::Problem,
    extract::{Idempotency, body, parse_key},
};

/// Middleware of each route, after its guard.
pub async fn read_key(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let Some(key) = request
        .headers()
        .get("idempotency-key")
        .filter(|_| request.method() == Method::POST)
    else {
        return Ok(next.run(request).await);
    };
    let key = parse_key(key.as_bytes())?;
    let path = format!("{} {}", request.method(), request.uri().path());
    let (mut parts, unread) = request.into_parts();
    let bytes = body::read(unread).await?;
    parts.extensions.insert(Idempotency {
        key,
        path: MetadataValue::try_from(path).map_err(Failure::internal)?,
        hash: MetadataValue::try_from(hash(&app, &bytes)).map_err(Failure::internal)?,
    });
    Ok(next
        .run(Request::from_parts(parts, Body::from(bytes)))
        .await)
}

/// Keyed, so that records tell nobody who lacks the secret what a body was.
fn hash(app: &App, body: &[u8]) -> String {
    let secret = app.service_secret.expose_secret().as_bytes();
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("HMAC takes keys of any length");
    mac.update(body);
    mac.finalize()
        .into_bytes()
        .iter()
        .fold(String::new(), |mut hex, byte| {
            write!(hex, "{byte:02x}").expect("writing to a String cannot fail");
            hex
        })
}
