//! Addresses outside Guerdon that belong to wallets: given by clients, or derived from a configured
//! extended public key.

pub mod convert;
pub mod grpc;
pub mod hd;
pub mod model;
pub mod repo;
pub mod service;
