//! Reads the `Idempotency-Key` of POST requests. The service that owns the effect keeps the record; the
//! gateway passes on the key, the route and a hash of the body.

use std::{fmt::Write as _, sync::Arc};

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, Method, request::Parts},
    middleware::Next,
    response::Response,
};
use hkdf::Hkdf;
use hmac::{Hmac, Mac as _};
use platform::error::Failure;
use secrecy::{ExposeSecret as _, SecretBox, SecretString};
use sha2::Sha256;
use tonic::metadata::{Ascii, MetadataValue};

use crate::{
    App,
    error::Problem,
    extract::{Idempotency, body, parse_key},
};

/// Reads the key and hashes the body of a POST request. Runs after the access guard.
pub(crate) async fn read_key(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    if request.method() != Method::POST {
        return Ok(next.run(request).await);
    }
    let Some(key) = key(request.headers())? else {
        return Ok(next.run(request).await);
    };
    let (mut parts, unread) = request.into_parts();
    let bytes = body::read(unread).await?;
    let mut hash = BodyHash::new(&app);
    hash.update(&bytes);
    let idempotency = Idempotency::new(key, &path(&parts), &hash.finish())?;
    parts.extensions.insert(idempotency);
    Ok(next
        .run(Request::from_parts(parts, Body::from(bytes)))
        .await)
}

/// Reads the key of a request.
pub(crate) fn key(headers: &HeaderMap) -> Result<Option<MetadataValue<Ascii>>, Failure> {
    let key = headers.get("idempotency-key");
    key.map(|key| parse_key(key.as_bytes())).transpose()
}

/// Returns the route that a key belongs to.
pub(crate) fn path(parts: &Parts) -> String {
    format!("{} {}", parts.method, parts.uri.path())
}

/// The key of the hashes of bodies.
#[derive(Debug, Clone)]
pub(crate) struct BodyHashKey(Arc<SecretBox<[u8; 32]>>);

impl BodyHashKey {
    /// The purpose of the key: keys for other purposes have other labels (RFC 5869, `info`).
    const LABEL: &[u8] = b"guerdon gateway idempotency body hash v1";

    /// Derives the key from the gateway's secret, which itself only identity-svc gets to see.
    pub(crate) fn derive(secret: &SecretString) -> Self {
        let derivation = Hkdf::<Sha256>::new(None, secret.expose_secret().as_bytes());
        let key = SecretBox::init_with_mut(|key: &mut [u8; 32]| {
            derivation
                .expand(Self::LABEL, key)
                .expect("HKDF makes keys of 32 bytes");
        });
        Self(Arc::new(key))
    }
}

/// The keyed hash of a body, computed while it is read. Without the secret, records do not reveal
/// whether a body was a given one.
pub(crate) struct BodyHash(Hmac<Sha256>);

impl BodyHash {
    /// Starts a hash.
    pub(crate) fn new(app: &App) -> Self {
        let key = app.body_hash_key.0.expose_secret();
        Self(Hmac::new_from_slice(key).expect("HMAC takes keys of any length"))
    }

    /// Adds the next part of the body.
    pub(crate) fn update(&mut self, part: &[u8]) {
        self.0.update(part);
    }

    /// Returns the hash in hexadecimal.
    pub(crate) fn finish(self) -> String {
        let bytes = self.0.finalize().into_bytes();
        bytes.iter().fold(String::new(), |mut hex, byte| {
            write!(hex, "{byte:02x}").expect("writing to a String cannot fail");
            hex
        })
    }
}
