//! Tokens, and the credentials that are exchanged for them.

pub(crate) mod api_key;
mod failure_limit;
pub(crate) mod grpc;
mod known_services;
mod repo;
mod service;

use failure_limit::FailureLimit;
pub(crate) use known_services::KnownServices;
pub(crate) use service::Auth;
