//! Tasks: things a user can do once for a reward.

pub mod convert;
mod events;
pub mod grpc;
pub mod model;
mod repo;
pub mod service;

pub use model::{CompletionId, TaskId, TransactionId};
pub use service::Tasks;
