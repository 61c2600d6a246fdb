#![doc = include_str!("../README.md")]

mod access;
mod address;
mod asset;
mod audit;
mod clients;
pub mod config;
pub mod consumers;
mod error;
mod fields;
mod ledger;
mod movement;
mod operation;
mod payment_method;
mod posting;
mod rate;
mod referral;
mod service;
mod settings;
mod transaction;
pub mod verify;
mod wallet;

use platform::pg::Schema;
use sqlx::migrate::Migrator;

pub use service::Service;

/// The schema of wallet-svc.
pub const SCHEMA: Schema = Schema::new("wallet");

/// The migrations of the schema.
pub static MIGRATOR: Migrator = sqlx::migrate!();
