//! Orders: the aggregate of this service.

pub mod answers;
pub mod bonus;
pub mod cart;
pub mod claim;
pub mod convert;
mod events;
pub mod fulfilment;
pub mod grpc;
pub mod model;
mod payment;
pub mod quote;
mod refund;
mod repo;
pub mod service;
mod status;

#[cfg(test)]
mod tests;
