//! Assets: currencies, tokens and points.

pub mod code;
pub mod convert;
pub mod directory;
pub mod events;
pub mod grpc;
pub mod model;
pub mod repo;
pub mod service;
