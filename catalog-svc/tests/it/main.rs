//! catalog-svc through its gRPC API, on a real Postgres (`DATABASE_URL`, a role that may create
//! databases) and with a fake wallet-svc. Each test has a database of its own.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod access;
mod assets;
mod audit;
mod categories;
mod fake_wallet;
mod harness;
mod idempotency;
mod imports;
mod lists;

mod pages;
mod preconditions;
mod product_bodies;
mod product_patch;
mod product_questions;
mod products;
mod question_patch;
mod questions;
mod quotes;
mod reorder;
mod search;
mod search_words;
mod tax_rates;
mod versioned_cache;
