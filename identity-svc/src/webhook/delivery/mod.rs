//! Deliveries: an event for a webhook, tried until it is received, for three days.

use chrono::TimeDelta;

mod model;
pub(crate) mod repo;
mod worker;

pub(super) use model::{Delivery, DeliveryId, Status};
pub(crate) use worker::Worker;

/// How long a delivery is tried.
pub(crate) const RETRY_FOR: TimeDelta = TimeDelta::days(3);
