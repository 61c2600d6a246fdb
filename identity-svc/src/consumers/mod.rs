//! Consumers of the events of other contexts, one file an event.

pub mod order_paid;

use platform::pg::Schema;

pub use crate::referral_reward::ReferralRewards;

/// The context of orders-svc.
pub const ORDERS: Schema = Schema::new("orders");
