//! catalog-svc from the outside: its gRPC on a fresh Postgres, wallet-svc played by a small server.
#![expect(
    clippy::unwrap_used,
    clippy::default_trait_access,
    reason = "what is unexpected ends a test, and empty requests need no name"
)]

mod access;
mod assets;
mod categories;
mod fake_wallet;
mod harness;
mod idempotency;
mod imports;
mod lists;
mod pages;
mod product_patch;
mod product_questions;
mod products;
mod questions;
mod quotes;
mod reorder;
mod search;
mod tax_rates;
