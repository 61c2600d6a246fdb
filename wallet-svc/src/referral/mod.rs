//! Rewards of users who referred others: a share of task rewards and of paid orders, converted to the
//! asset of bonuses, and taken back in proportion to refunds.

pub(crate) mod model;
mod repo;
pub(crate) mod service;
