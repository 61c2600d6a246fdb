//! Wallets and what they hold.

pub mod convert;
pub mod events;
pub mod grpc;
pub mod model;
pub mod past;
pub mod repo;
pub mod service;
