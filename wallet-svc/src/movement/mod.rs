//! Movements: the entries of the ledger's journal.

pub(crate) mod convert;
pub(crate) mod grpc;
pub(crate) mod model;
pub(crate) mod repo;
