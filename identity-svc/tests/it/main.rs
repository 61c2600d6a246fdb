//! identity-svc against a real Postgres (`DATABASE_URL`, a role that may create databases) and a
//! real NATS (`NATS_URL`). [`fake_wallet::FakeWallet`] stands in for
//! wallet-svc.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod accounts;
mod api_keys;
mod auth;
mod completions;
mod event_feed;
mod fake_receiver;
mod fake_smtp;
mod fake_wallet;
mod harness;
mod invites;
mod mail;
mod preconditions;
mod provisioning;
mod races;
mod referral_rewards;
mod revocation;
mod revocation_stream;
mod sessions;
mod signing_keys;
mod task_calls;
mod task_changes;
mod tasks;
mod users;
mod webhooks;
