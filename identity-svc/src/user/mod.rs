//! Users: profile, state and credentials, and the sagas that create each with a wallet and delete it.

pub(crate) mod convert;
mod credentials;
mod deletion;
mod email;
pub(crate) mod events;
pub(crate) mod grpc;
mod model;
mod password;
mod provisioning;
pub(crate) mod repo;
mod service;

pub(crate) use credentials::Credentials;
pub(crate) use deletion::Deletion;
pub(crate) use email::{Email, canonical as canonical_email};
pub(crate) use model::{User, UserId};
pub(crate) use password::{Hasher, HashingCost, Password, PasswordAttempt};
pub(crate) use provisioning::Provisioning;
pub(crate) use service::{Users, require_visible, visible_to};
