#![doc = include_str!("../README.md")]

mod clients;
pub mod config;
pub mod consumers;
mod error;
mod order;
mod service;

use platform::pg::Schema;
use sqlx::migrate::Migrator;

pub use service::Service;

/// The schema of orders-svc.
pub const SCHEMA: Schema = Schema::new("orders");

/// The migrations of the schema.
pub static MIGRATOR: Migrator = sqlx::migrate!();
