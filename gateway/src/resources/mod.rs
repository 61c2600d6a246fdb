//! One file a resource: its DTOs and handlers.

pub mod dto;
mod reply;

pub mod activity;
pub mod addresses;
pub mod assets;
pub mod categories;
pub mod movements;
pub mod order_lines;
pub mod orders;
pub mod payment_methods;
pub mod product_questions;
pub mod products;
pub mod questions;
pub mod rates;
pub mod tasks;
pub mod tax_rates;
pub mod transactions;
pub mod users;
pub mod wallets;
