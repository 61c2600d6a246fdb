//! External addresses of wallets: given by clients, or derived from a configured extended public key.

pub(crate) mod convert;
pub(crate) mod grpc;
pub(crate) mod hd;
pub(crate) mod model;
pub(crate) mod repo;
pub(crate) mod service;
