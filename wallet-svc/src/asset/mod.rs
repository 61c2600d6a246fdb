//! Assets: currencies, tokens and points.

pub mod convert;
pub mod directory;
pub mod grpc;
pub mod model;
pub mod repo;
