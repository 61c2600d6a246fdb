//! Ledger operations: several transfers under one operation id, for the other contexts.

mod convert;
pub(crate) mod decode;
pub(crate) mod grpc;
pub(crate) mod service;
