//! Assets: currencies, tokens and points.

pub(crate) mod code;
pub(crate) mod convert;
pub(crate) mod directory;
pub(crate) mod events;
pub(crate) mod grpc;
pub(crate) mod model;
pub(crate) mod repo;
pub(crate) mod service;
