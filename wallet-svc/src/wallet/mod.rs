//! Wallets and their balances.

mod closing;
pub(crate) mod convert;
pub(crate) mod events;
pub(crate) mod grpc;
pub(crate) mod model;
pub(crate) mod past;
pub(crate) mod repo;
pub(crate) mod service;
