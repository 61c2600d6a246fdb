//! Movements: the entries of the ledger.

pub mod convert;
pub mod grpc;
pub mod model;
pub mod repo;
