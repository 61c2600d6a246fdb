//! Products: what a shop sells, in an order of their own.

pub mod convert;
mod events;
mod export;
pub mod grpc;
pub mod import;
pub mod import_repo;
mod model;
pub mod pricing;
pub mod related;
mod reorder;
pub mod repo;
mod row;
mod search;
mod service;

pub(crate) use events::updated;
pub use model::{Details, DetailsPatch, Named, NewProduct, Product, ProductPatch, ProductType};
pub(crate) use service::locked_in_tx;
pub use service::{Products, View};
