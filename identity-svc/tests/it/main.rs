//! identity-svc against a real Postgres (`DATABASE_URL`, a role that may create databases) and a
//! real NATS (`NATS_URL`). wallet-svc is played by [`wallet::FakeWallet`].
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod auth;
mod bed;
mod provisioning;
mod tasks;
mod users;
mod wallet;
