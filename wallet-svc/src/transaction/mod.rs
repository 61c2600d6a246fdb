//! Transactions: the intents to move money, with their states.

pub(crate) mod activity;
pub(crate) mod code;
pub(crate) mod convert;
pub(crate) mod events;
pub(crate) mod exchange;
pub(crate) mod grpc;
pub(crate) mod metadata;
pub(crate) mod model;
pub(crate) mod new;
pub(crate) mod payload;
pub(crate) mod repo;
pub(crate) mod row;
mod sending;
pub(crate) mod service;
