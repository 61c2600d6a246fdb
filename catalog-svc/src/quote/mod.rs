//! Quotes: current prices of a cart, all that an order needs of the catalogue.

mod convert;
pub(crate) mod grpc;
mod service;

pub(crate) use service::Quotes;
