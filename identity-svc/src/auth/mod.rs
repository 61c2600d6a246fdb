//! Tokens, and the credentials that are exchanged for them.

pub(crate) mod api_key;
mod failure_limit;
pub(crate) mod grpc;
mod known_services;
mod repo;
mod service;
pub(crate) mod sessions;
pub(crate) mod signing_keys;
mod tokens;

use failure_limit::FailureLimit;
pub(crate) use known_services::KnownServices;
pub(crate) use repo::end_in_tx as end_key_in_tx;
pub(crate) use service::Auth;
pub(crate) use sessions::Sessions;
pub(crate) use tokens::Tokens;
