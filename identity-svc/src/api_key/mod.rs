//! API keys as admins manage them. [`crate::auth`] exchanges keys for tokens.

mod convert;
mod events;
pub(crate) mod grpc;
mod model;
mod repo;
mod service;

pub(crate) use service::ApiKeys;
