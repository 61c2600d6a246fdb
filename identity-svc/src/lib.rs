#![doc = include_str!("../README.md")]

mod account;
mod api_key;
mod auth;
mod clients;
pub mod config;
pub mod consumers;
mod error;
mod fields;
mod invite;
mod links;
mod mail;
pub mod public_event;
mod referral_reward;
mod revocation;
mod service;
mod sign_up_code;
mod task;
mod user;
mod webhook;

use platform::pg::Schema;
use sqlx::migrate::Migrator;

pub use service::Service;

/// The schema of identity-svc.
pub const SCHEMA: Schema = Schema::new("identity");

/// The migrations of the schema.
pub static MIGRATOR: Migrator = sqlx::migrate!();
