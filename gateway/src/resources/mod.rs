//! DTOs and handlers, one file a resource. The first line of a handler's doc comment is its summary in
//! the API reference.

pub(crate) mod dto;
mod result;

pub(crate) mod accounts;
pub(crate) mod activity;
pub(crate) mod addresses;
pub(crate) mod api_keys;
pub(crate) mod assets;
pub(crate) mod audit_log;
pub(crate) mod auth;
pub(crate) mod categories;
pub(crate) mod completions;
pub(crate) mod events;
pub(crate) mod invites;
pub(crate) mod movements;
pub(crate) mod order_lines;
pub(crate) mod orders;
pub(crate) mod payment_methods;
pub(crate) mod product_questions;
pub(crate) mod products;
pub(crate) mod questions;
pub(crate) mod rates;
pub(crate) mod tasks;
pub(crate) mod tax_rates;
pub(crate) mod transactions;
pub(crate) mod users;
pub(crate) mod wallets;
pub(crate) mod webhooks;
