//! Idempotency keys: one effect per key. The response is recorded in the transaction of the effect and
//! replayed for 24 hours.
//!
//! The gateway sends key, method with path, and a keyed hash of the raw body as metadata. A refusal is
//! not recorded: the same key may be sent again. Concurrent requests with one key wait for each other
//! on the record's row.
//!
//! # A use case in one transaction
//!
//! ```no_run
//! # use platform::{
//! #     error::Failure, grpc::{Call, respond}, idempotency::{self, Key, Reply, Started},
//! #     pg::{self, Schema}};
//! # use prost_types::Timestamp as Product;
//! # use sqlx::{PgConnection, PgPool};
//! # async fn insert_in_tx(conn: &mut PgConnection, new: &str) -> Result<Product, Failure> { Ok(Product::default()) }
//! const SCHEMA: Schema = Schema::new("catalog");
//!
//! // The service's use case. `work` derefs to the connection of its transaction; on an error it is
//! // dropped, which rolls back and leaves no record.
//! async fn create(pool: &PgPool, key: Option<&Key>, new: &str) -> Result<Reply<Product>, Failure> {
//!     let mut work = match idempotency::start(pool, SCHEMA, key).await? {
//!         Started::Replay(reply) => return Ok(reply),
//!         Started::Fresh(work) => work,
//!     };
//!     let product = insert_in_tx(&mut work, new).await?;
//!     Ok(work.commit(product).await?)
//! }
//!
//! // The gRPC handler. The record holds the resource; `respond` wraps it and marks a replay.
//! # struct CreateProductResponse { product: Option<Product> }
//! # async fn create_product(pool: &PgPool, request: tonic::Request<String>)
//! #     -> Result<tonic::Response<CreateProductResponse>, tonic::Status> {
//! let Call { key, body, .. } = Call::of(request)?;
//! // Retried only where the use case takes locks that can deadlock.
//! let reply = pg::retry_serialization(|| create(pool, key.as_ref(), &body)).await?;
//! Ok(respond(reply, |product| CreateProductResponse { product: Some(product) }))
//! # }
//! ```
//!
//! A use case that asks another service first calls [`find_replay`] before it does.
//!
//! # A saga
//!
//! [`begin_in_tx`], in the transaction that begins the saga, leaves the record in progress. Store
//! [`Key::scope`] with the saga's item: the transaction that ends the saga, in whatever process, calls
//! [`complete_in_tx`], or [`forget_in_tx`] after a refusal.
//!
//! # Batches
//!
//! [`find_in_tx`] reads the records of a batch under its locks; [`Columns`] inserts the new records in
//! the batch's own statement. If two replicas insert one key, one violates `idempotency_keys_pkey`: its
//! batch is retried request by request, and finds the record.

mod key;
mod records;
mod work;

use tonic::metadata::{AsciiMetadataValue, MetadataMap};

use crate::error::{Code, Failure};
pub use key::{Key, Scope};
pub(crate) use records::is_used_with_other_body;
pub use records::{
    Begin, Columns, Record, begin_all_in_tx, begin_in_tx, complete_all_in_tx, complete_in_tx,
    find_in_tx, forget_in_tx,
};
pub use work::{Started, Work, find_replay, start};

/// The metadata of the client's `Idempotency-Key`.
pub const KEY: &str = "guerdon-idempotency-key";
/// The metadata of method and full path, `POST /orders`.
pub const PATH: &str = "guerdon-idempotency-path";
/// The metadata of the keyed hash of the raw body, in hex.
pub const HASH: &str = "guerdon-idempotency-hash";
/// The response metadata that is `true` on a replay.
pub const REPLAYED: &str = "guerdon-idempotency-replayed";

/// The refusals of a request with an idempotency key, and faults.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not 1 to 255 printable characters, or path or hash is missing.
    #[error("an idempotency key has 1 to 255 printable characters")]
    Malformed,
    /// An earlier request with this key had another body.
    #[error("the idempotency key was used with another body")]
    Reused,
    /// The first request with this key is in progress.
    #[error("the first request with this idempotency key is still running")]
    InUse,
    /// The recorded response cannot be decoded.
    #[error("a recorded response cannot be decoded")]
    Unreadable(#[from] prost::DecodeError),
    /// An error of the database.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = match error {
            Error::Malformed => Code::InvalidIdempotencyKey,
            Error::Reused => Code::IdempotencyKeyReused,
            Error::InUse => Code::IdempotencyKeyInUse,
            Error::Unreadable(_) => return Self::internal(error),
            Error::Database(error) => return error.into(),
        };
        Self::new(code, error.to_string())
    }
}

impl From<Error> for tonic::Status {
    fn from(error: Error) -> Self {
        Failure::from(error).into()
    }
}

/// The reply to a request that changes data: created now, or recorded by an earlier request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply<T> {
    /// The resource that the change returns.
    pub message: T,
    /// Whether it is a recorded one.
    pub replayed: bool,
}

impl<T> Reply<T> {
    /// Creates the reply to a request that had its effect now.
    pub fn fresh(message: T) -> Self {
        Self {
            message,
            replayed: false,
        }
    }

    /// Creates the gRPC response, marked if it is a replay.
    pub fn into_response(self) -> tonic::Response<T> {
        let mut response = tonic::Response::new(self.message);
        if self.replayed {
            let yes = AsciiMetadataValue::from_static("true");
            response.metadata_mut().insert(REPLAYED, yes);
        }
        response
    }
}

impl<T: prost::Message + Default> Reply<T> {
    /// Decodes a recorded reply.
    pub fn replay(recorded: &[u8]) -> Result<Self, Error> {
        Ok(Self {
            message: T::decode(recorded)?,
            replayed: true,
        })
    }
}

/// Tells whether a response is a replay, for the gateway's `Idempotency-Replayed`.
pub fn is_replay(metadata: &MetadataMap) -> bool {
    metadata.get(REPLAYED).is_some_and(|value| value == "true")
}
