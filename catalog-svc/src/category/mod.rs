//! Categories: groups of products, in an order of their own.

pub mod convert;
mod events;
pub mod grpc;
mod model;
pub mod repo;
mod service;

pub use model::{Category, CategoryPatch, NewCategory};
pub use service::Categories;
