//! wallet-svc against a real Postgres (`DATABASE_URL`, a role that may create databases). Each test
//! has a database of its own, and ends with the verifier. NATS is away, which must not matter.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod addresses;
mod assets;
mod bonuses;
mod exchanges;
mod faults;
mod harness;
mod holds;
mod idempotency;
mod lists;
mod operations;
mod optimistic;
mod past;
mod payment_methods;
mod proxy;
mod races;
mod rates;
mod refusals;
mod states;
mod verifier;
mod wallets;
