#![doc = include_str!("../README.md")]

pub mod access;
pub mod address;
pub mod asset;
pub mod clients;
pub mod config;
pub mod consumers;
pub mod error;
pub mod ledger;
pub mod movement;
pub mod operation;
pub mod payment_method;
pub mod posting;
pub mod rate;
mod service;
pub mod settings;
pub mod text;
pub mod transaction;
pub mod verify;
pub mod wallet;

use platform::pg::Schema;
use sqlx::migrate::Migrator;

pub use service::Service;

/// The schema of wallet-svc.
pub const SCHEMA: Schema = Schema::new("wallet");

/// The migrations of the schema.
pub static MIGRATOR: Migrator = sqlx::migrate!();
