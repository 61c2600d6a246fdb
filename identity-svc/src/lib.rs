#![doc = include_str!("../README.md")]

pub mod auth;
pub mod clients;
pub mod config;
pub mod error;
mod fields;
mod service;
pub mod task;
pub mod user;

use platform::pg::Schema;
use sqlx::migrate::Migrator;

pub use service::Service;

/// The schema of identity-svc.
pub const SCHEMA: Schema = Schema::new("identity");

/// The migrations of the schema.
pub static MIGRATOR: Migrator = sqlx::migrate!();
