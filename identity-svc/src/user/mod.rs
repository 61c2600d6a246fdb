//! Users: profile, state and credentials, and the saga that creates each with a wallet.

pub(crate) mod convert;
mod email;
mod events;
pub(crate) mod grpc;
mod model;
mod password;
mod provisioning;
mod referral;
pub(crate) mod repo;
mod service;

pub(crate) use email::Email;
pub(crate) use model::{User, UserId};
pub(crate) use password::{Hasher, HashingCost, PasswordAttempt};
pub(crate) use provisioning::Provisioning;
pub(crate) use service::Users;
