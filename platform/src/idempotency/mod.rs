//! Idempotency keys: one effect per key, recorded in the transaction of the effect, for 24 hours.
//!
//! The gateway sends key, method with path, and a keyed hash of the raw body as metadata; the owning
//! service keeps them. Only what had an effect is recorded, a refusal is judged afresh. Requests with
//! the same key wait for each other on the record's row, never on a check before an insert.
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
//! let Call { key, body, .. } = Call::of_admin(request)?;
//! // Retried only where the use case takes locks that can deadlock.
//! let reply = pg::retry_serialization(|| create(pool, key.as_ref(), &body)).await?;
//! Ok(respond(reply, |product| CreateProductResponse { product: Some(product) }))
//! # }
//! ```
//!
//! # A saga
//!
//! Claim with the state: [`begin_in_tx`] in the claiming transaction leaves the record in progress
//! when that commits. Keep [`Key::scope`] with the claim, so that recovery can end it too:
//! [`complete_in_tx`] with the settlement, [`forget_in_tx`] with a refusal.
//!
//! # Group commit
//!
//! [`find_in_tx`] looks up the keys of a group under its locks, [`Columns`] writes its new records
//! in the group's own statement. Two replicas that race for one key meet in `idempotency_keys_pkey`:
//! the group that loses is retried one by one, and finds the answer.

mod key;
mod records;
mod work;

use tonic::metadata::{AsciiMetadataValue, MetadataMap};

use crate::error::{Code, Failure};
pub use key::{Key, Scope};
pub use records::{Begin, Columns, Record, begin_in_tx, complete_in_tx, find_in_tx, forget_in_tx};
pub use work::{Started, Work, start};

/// Metadata: the client's `Idempotency-Key`.
pub const KEY: &str = "guerdon-idempotency-key";
/// Metadata: method and full path, `POST /orders`.
pub const PATH: &str = "guerdon-idempotency-path";
/// Metadata: hex of the keyed hash of the raw body.
pub const HASH: &str = "guerdon-idempotency-hash";
/// Response metadata: `true` on a replay.
pub const REPLAYED: &str = "guerdon-idempotency-replayed";

/// Why a request with an idempotency key goes no further.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not 1 to 255 printable characters, or the gateway's part is missing.
    #[error("an idempotency key has 1 to 255 printable characters")]
    Malformed,
    /// The key came before with another body.
    #[error("the idempotency key was used with another body")]
    Reused,
    /// The first request with this key has not ended.
    #[error("the first request with this idempotency key is still running")]
    InUse,
    /// The recorded answer cannot be read.
    #[error("a recorded answer cannot be read")]
    Unreadable(#[from] prost::DecodeError),
    /// The database's part.
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

/// The answer to a mutating request, made now or recorded before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply<T> {
    /// As the first request got it.
    pub message: T,
    /// Whether it is a recorded one.
    pub replayed: bool,
}

impl<T> Reply<T> {
    /// An answer to a request that had its effect now.
    pub fn fresh(message: T) -> Self {
        Self {
            message,
            replayed: false,
        }
    }

    /// The gRPC response, marked if it is a replay.
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
    /// A recorded answer.
    pub fn replay(recorded: &[u8]) -> Result<Self, Error> {
        Ok(Self {
            message: T::decode(recorded)?,
            replayed: true,
        })
    }
}

/// Whether a response is a replay, for the gateway's `Idempotency-Replayed`.
pub fn is_replay(metadata: &MetadataMap) -> bool {
    metadata.get(REPLAYED).is_some_and(|value| value == "true")
}
