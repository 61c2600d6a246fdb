//! Users: their profile, state and credentials, and the saga that gives each a wallet.

pub mod convert;
pub mod email;
mod events;
pub mod grpc;
pub mod model;
pub mod password;
pub mod provisioning;
pub mod referral;
pub(crate) mod repo;
pub mod service;

pub use model::UserId;
pub use provisioning::Provisioning;
pub use service::Users;
