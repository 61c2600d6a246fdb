//! Tax rates: percentages added to net prices.

pub(crate) mod convert;
mod events;
pub(crate) mod grpc;
mod model;
pub(crate) mod repo;
mod service;

pub(crate) use model::{NewTaxRate, TaxRate, TaxRatePatch};
pub(crate) use service::TaxRates;
