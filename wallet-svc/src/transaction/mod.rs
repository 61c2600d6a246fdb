//! Transactions: intents to move money, and their states.

pub mod activity;
pub mod code;
pub mod convert;
pub mod decode;
pub mod events;
pub mod exchange;
pub mod grpc;
pub mod metadata;
pub mod model;
pub mod new;
pub mod payload;
pub mod repo;
pub mod row;
pub mod service;
