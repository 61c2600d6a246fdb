//! Orders: the aggregate of this service.

mod convert;
mod events;
pub(crate) mod grpc;
pub(crate) mod model;
pub(crate) mod repo;
pub(crate) mod service;
