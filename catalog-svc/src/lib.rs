#![doc = include_str!("../README.md")]

mod category;
pub mod clients;
pub mod config;
pub mod consumers;
mod context;
mod error;
mod fields;
mod media;
mod product;
mod product_question;
mod question;
mod quote;
mod service;
mod tax_rate;
mod versioned_cache;
pub mod words;

use platform::pg::Schema;
use sqlx::migrate::Migrator;

pub use service::Service;

/// The schema of catalog-svc.
pub const SCHEMA: Schema = Schema::new("catalog");

/// The migrations of the schema.
pub static MIGRATOR: Migrator = sqlx::migrate!();
