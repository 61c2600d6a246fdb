//! The gRPC side of a request: the caller and the idempotency key that the services are called with.

use std::{convert::Infallible, sync::Arc};

use axum::{extract::FromRequestParts, http::request::Parts};
use platform::{
    error::{Code, Failure},
    grpc::precondition::{IF_VERSION, Versions},
};
use tonic::metadata::{Ascii, MetadataValue};

use crate::{App, access::Principal, clients::Clients, error::Problem};

/// Calls services on behalf of the request's caller.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) clients: Arc<Clients>,
    principal: Principal,
    idempotency: Option<Idempotency>,
    if_version: Option<Versions>,
}

/// An `Idempotency-Key`, with what the service compares when a request is repeated.
#[derive(Debug, Clone)]
pub(crate) struct Idempotency {
    /// The key as the client sent it.
    key: MetadataValue<Ascii>,
    /// Method and full path, such as `POST /orders`.
    path: MetadataValue<Ascii>,
    /// Keyed hash of the raw body, in hexadecimal.
    hash: MetadataValue<Ascii>,
}

/// A response of a service.
#[derive(Debug)]
pub(crate) struct ServiceResponse<T> {
    pub(crate) message: T,
    /// Whether it is the recorded response to an earlier request with the same idempotency key.
    pub(crate) replayed: bool,
}

impl FromRequestParts<App> for Call {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        let principal = parts.extensions.get::<Principal>().cloned();
        Ok(Self {
            clients: Arc::clone(&app.clients),
            principal: principal.expect("the access guard of every route sets it"),
            idempotency: parts.extensions.get::<Idempotency>().cloned(),
            if_version: parts.extensions.get::<Versions>().cloned(),
        })
    }
}

impl Call {
    /// Replaces the idempotency key, for handlers that read the body themselves.
    #[must_use]
    pub(crate) fn with_idempotency(mut self, idempotency: Option<Idempotency>) -> Self {
        self.idempotency = idempotency;
        self
    }

    /// Returns whether the caller has the role `admin`.
    pub(crate) fn is_admin(&self) -> bool {
        self.principal.is_admin
    }

    /// Builds a gRPC request on the caller's behalf.
    pub(crate) fn request<T>(&self, message: T) -> tonic::Request<T> {
        let mut request = tonic::Request::new(message);
        let metadata = request.metadata_mut();
        metadata.insert("authorization", self.principal.authorization.clone());
        if let Some(idempotency) = &self.idempotency {
            metadata.insert("guerdon-idempotency-key", idempotency.key.clone());
            metadata.insert("guerdon-idempotency-path", idempotency.path.clone());
            metadata.insert("guerdon-idempotency-hash", idempotency.hash.clone());
        }
        if let Some(versions) = &self.if_version {
            metadata.insert(IF_VERSION, versions.metadata());
        }
        request
    }
}

impl Idempotency {
    /// Combines a parsed key with the path and the hash of the request.
    pub(crate) fn new(key: MetadataValue<Ascii>, path: &str, hash: &str) -> Result<Self, Failure> {
        Ok(Self {
            key,
            path: MetadataValue::try_from(path).map_err(Failure::internal)?,
            hash: MetadataValue::try_from(hash).map_err(Failure::internal)?,
        })
    }
}

impl<T> ServiceResponse<T> {
    /// Takes the resource out of the message. A service that leaves it out is at fault.
    pub(crate) fn resource<R>(self, resource: impl FnOnce(T) -> Option<R>) -> Result<R, Problem> {
        let missing = || Failure::internal("the response of a service lacks its resource");
        resource(self.message).ok_or_else(|| missing().into())
    }
}

impl<T> From<tonic::Response<T>> for ServiceResponse<T> {
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

/// Parses a key: 1 to 255 printable ASCII characters.
pub(crate) fn parse_key(value: &[u8]) -> Result<MetadataValue<Ascii>, Failure> {
    let printable = value.iter().all(|byte| matches!(byte, 0x20..=0x7e));
    let invalid = || {
        Failure::new(
            Code::InvalidIdempotencyKey,
            "Idempotency-Key must have 1 to 255 printable characters",
        )
    };
    if !printable || value.is_empty() || value.len() > 255 {
        return Err(invalid());
    }
    MetadataValue::try_from(value).map_err(|_| invalid())
}
