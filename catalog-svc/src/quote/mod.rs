//! Quotes: a cart priced as the catalogue stands now, which is all that an order needs of it.

mod convert;
pub mod grpc;
mod service;

pub use service::Quotes;
