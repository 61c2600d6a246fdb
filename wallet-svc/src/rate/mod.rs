//! Rates: what one unit of an asset is worth in another.

pub mod convert;
pub mod events;
pub mod grpc;
pub mod model;
pub mod repo;
pub mod service;
