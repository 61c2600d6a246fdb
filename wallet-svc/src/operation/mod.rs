//! Ledger operations: several transfers under one operation id, for the other contexts.

pub mod decode;
pub mod grpc;
pub mod service;
