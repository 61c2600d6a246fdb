//! Tests of wallet-svc on a real Postgres (`DATABASE_URL`, a role that may create databases). Each test
//! has its own database and ends with a verification of the ledger. There is no NATS, which no test
//! needs.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod access;
mod activity;
mod addresses;
mod asset_updates;
mod assets;
mod audit;
mod batches;
mod bonuses;
mod closing;
mod contention;
mod conversions;
mod database_errors;
mod dry_runs;
mod events;
mod exchanges;
mod expiry;
mod filters;
mod harness;
mod history;
mod holds;
mod idempotency;
mod lists;
mod lost_replies;
mod movements;
mod operations;
mod optimistic;
mod payment_methods;
mod preconditions;
mod proxy;
mod races;
mod rates;
mod referrals;
mod sending;
mod settings;
mod states;
mod totals;
mod transactions;
mod validation;
mod verifier;
mod wallets;
