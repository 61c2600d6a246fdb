//! What users do with their accounts by mail: reset a password, confirm or change an email.

pub(crate) mod grpc;
mod service;
mod token;
pub(crate) mod tokens;

pub(crate) use service::Accounts;
