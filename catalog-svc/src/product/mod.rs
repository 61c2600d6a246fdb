//! Products: what a shop sells, which admins put in order.

pub(crate) mod convert;
mod events;
mod export;
pub(crate) mod grpc;
mod import;
mod model;
pub(crate) mod pricing;
pub(crate) mod related;
mod reorder;
pub(crate) mod repo;
mod row;
mod search;
mod service;

pub(crate) use model::{
    Details, DetailsPatch, Named, NewProduct, Product, ProductPatch, ProductType,
};
pub(crate) use service::{Products, View, lock_in_tx, write_in_tx};
