//! The gRPC side of a request: on whose behalf and under which idempotency key services are called.

use std::convert::Infallible;

use axum::{extract::FromRequestParts, http::request::Parts};
use platform::error::{Code, Failure};
use tonic::metadata::{Ascii, MetadataValue};

use crate::{App, access::Principal, error::Problem};

/// Carries the caller to the services.
#[derive(Debug, Clone)]
pub struct Call {
    /// The clients of the services.
    pub app: App,
    principal: Principal,
    idempotency: Option<Idempotency>,
}

/// An `Idempotency-Key` with what the service compares on a repeat.
#[derive(Debug, Clone)]
pub struct Idempotency {
    /// The key as the client sent it.
    pub key: MetadataValue<Ascii>,
    /// Method and full path, such as `POST /orders`.
    pub path: MetadataValue<Ascii>,
    /// Keyed hash of the raw body, in hexadecimal.
    pub hash: MetadataValue<Ascii>,
}

/// What a service answered.
#[derive(Debug)]
pub struct Answer<T> {
    /// The message.
    pub message: T,
    /// Whether it is the stored answer to an earlier request with the same idempotency key.
    pub replayed: bool,
}

impl FromRequestParts<App> for Call {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        let principal = parts.extensions.get::<Principal>().cloned();
        Ok(Self {
            app: app.clone(),
            principal: principal.expect("the guard of every route sets it"),
            idempotency: parts.extensions.get::<Idempotency>().cloned(),
        })
    }
}

impl Call {
    /// The same under the key of a body that the handler read by itself.
    #[must_use]
    pub fn under(mut self, idempotency: Option<Idempotency>) -> Self {
        self.idempotency = idempotency;
        self
    }

    /// A gRPC request on the caller's behalf.
    pub fn request<T>(&self, message: T) -> tonic::Request<T> {
        let mut request = tonic::Request::new(message);
        let metadata = request.metadata_mut();
        metadata.insert("authorization", self.principal.authorization.clone());
        if let Some(idempotency) = &self.idempotency {
            metadata.insert("guerdon-idempotency-key", idempotency.key.clone());
            metadata.insert("guerdon-idempotency-path", idempotency.path.clone());
            metadata.insert("guerdon-idempotency-hash", idempotency.hash.clone());
        }
        request
    }
}

impl Idempotency {
    /// Of a key that was checked.
    pub fn new(key: MetadataValue<Ascii>, path: &str, hash: &str) -> Result<Self, Failure> {
        Ok(Self {
            key,
            path: MetadataValue::try_from(path).map_err(Failure::internal)?,
            hash: MetadataValue::try_from(hash).map_err(Failure::internal)?,
        })
    }
}

impl<T> Answer<T> {
    /// Takes the resource out of the answer; a service that leaves it out is at fault.
    pub fn resource<R>(self, pick: impl FnOnce(T) -> Option<R>) -> Result<R, Problem> {
        let missing = || Failure::internal("a service answered without its resource");
        pick(self.message).ok_or_else(|| missing().into())
    }
}

impl<T> From<tonic::Response<T>> for Answer<T> {
    fn from(response: tonic::Response<T>) -> Self {
        let replayed = response
            .metadata()
            .contains_key("guerdon-idempotency-replayed");
        Self {
            message: response.into_inner(),
            replayed,
        }
    }
}

/// Keys are 1 to 255 printable ASCII characters.
pub(crate) fn parse_key(value: &[u8]) -> Result<MetadataValue<Ascii>, Failure> {
    let printable = value.iter().all(|byte| matches!(byte, 0x20..=0x7e));
    let invalid = || {
        Failure::new(
            Code::InvalidIdempotencyKey,
            "Idempotency-Key has 1 to 255 printable characters",
        )
    };
    if !printable || value.is_empty() || value.len() > 255 {
        return Err(invalid());
    }
    MetadataValue::try_from(value).map_err(|_| invalid())
}
