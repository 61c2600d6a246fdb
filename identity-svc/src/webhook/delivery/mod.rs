//! Deliveries: an event for a webhook, tried until it is received, for three days.

mod model;
pub(crate) mod repo;
mod worker;

pub(super) use model::{Delivery, DeliveryId, Status};
pub(crate) use worker::Worker;
