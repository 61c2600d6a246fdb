//! What users earn because users whom they referred complete tasks and pay orders.

mod events;
pub(crate) mod model;
mod repo;
mod service;

pub use service::ReferralRewards;
