//! The layer that checks the idempotency key of a refused request. A key that was used with another
//! body is reported as that, whatever else is wrong with the request: its body would be checked first,
//! because handlers parse it before the use case looks at the key. Accepted requests cost nothing here.

use std::{
    convert::Infallible,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use http::{Request, Response};
use sqlx::PgPool;
use tonic::{Code, Status, body::Body, metadata::MetadataMap};
use tower::{Layer, Service};

use crate::{
    auth::Caller,
    grpc::code_of,
    idempotency::{self, Error, Key},
    pg::{self, Schema},
};

/// Where the records of keys are.
#[derive(Clone)]
pub(super) struct Records {
    pub(super) pool: PgPool,
    pub(super) schema: Schema,
}

/// The layer; without records it does nothing.
#[derive(Clone)]
pub(super) struct KeyCheck(pub(super) Option<Arc<Records>>);

impl<S> Layer<S> for KeyCheck {
    type Service = Checked<S>;

    fn layer(&self, inner: S) -> Checked<S> {
        let records = self.0.clone();
        Checked { inner, records }
    }
}

/// The routes behind the layer.
#[derive(Clone)]
pub(super) struct Checked<S> {
    inner: S,
    records: Option<Arc<Records>>,
}

impl<S> Service<Request<Body>> for Checked<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let Some((records, key)) = self.records.clone().zip(key(&request)) else {
            return Box::pin(self.inner.call(request));
        };
        let response = self.inner.call(request);
        Box::pin(async move {
            let Ok(response) = response.await;
            let is_refused = is_refusal(code_of(&response));
            if is_refused && records.has_other_body(&key).await {
                return Ok(Status::from(Error::Reused).into_http());
            }
            Ok(response)
        })
    }
}

impl Records {
    /// Whether the key was used with another body. If that cannot be found out, the refusal stays.
    async fn has_other_body(&self, key: &Key) -> bool {
        let used = idempotency::is_used_with_other_body(&self.pool, self.schema, key);
        pg::bounded(used).await.unwrap_or_else(|error| {
            tracing::debug!(%error, "grpc: idempotency key not looked up, refusal is sent as it is");
            false
        })
    }
}

/// Returns the key of an authenticated request.
fn key(request: &Request<Body>) -> Option<Key> {
    if !request.headers().contains_key(idempotency::KEY) {
        return None;
    }
    let caller: &Caller = request.extensions().get()?;
    let metadata = MetadataMap::from_headers(request.headers().clone());
    Key::read(&metadata, caller).ok().flatten()
}

/// Whether the code may be due to the body or to a state that the body refers to. Access is checked
/// before the key.
const fn is_refusal(code: Code) -> bool {
    matches!(
        code,
        Code::InvalidArgument
            | Code::NotFound
            | Code::AlreadyExists
            | Code::FailedPrecondition
            | Code::Aborted
            | Code::OutOfRange
    )
}
