//! Tax rates: percentages added to net prices.

pub mod convert;
mod events;
pub mod grpc;
mod model;
pub mod repo;
mod service;

pub use model::{NewTaxRate, TaxRate, TaxRatePatch};
pub use service::TaxRates;
