//! Categories: groups of products, which admins put in order.

pub(crate) mod convert;
mod events;
pub(crate) mod grpc;
mod model;
pub(crate) mod repo;
mod service;

pub(crate) use model::{Category, CategoryPatch, NewCategory};
pub(crate) use service::Categories;
