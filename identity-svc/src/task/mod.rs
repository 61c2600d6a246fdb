//! Tasks, which a user can complete once for a reward.

mod completions;
mod convert;
mod events;
pub(crate) mod grpc;
mod model;
mod repo;
mod service;

pub(crate) use completions::Completions;
pub(crate) use model::{CompletionId, TaskId, TransactionId};
pub(crate) use service::Tasks;
