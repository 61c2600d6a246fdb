#![doc = include_str!("../README.md")]

pub mod category;
pub mod clients;
pub mod config;
pub mod consumers;
pub mod context;
pub mod error;
pub mod fields;
pub mod media;
pub mod product;
pub mod product_question;
pub mod question;
pub mod quote;
mod service;
pub mod tax_rate;
pub mod text;

use platform::pg::Schema;
use sqlx::migrate::Migrator;

pub use service::Service;

/// The schema of catalog-svc.
pub const SCHEMA: Schema = Schema::new("catalog");

/// The migrations of the schema.
pub static MIGRATOR: Migrator = sqlx::migrate!();
