//! Tests with a real Postgres (`DATABASE_URL`, a role that may create databases) and a real NATS with
//! JetStream (`NATS_URL`).
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod backbone;
mod dead_letters;
mod effects;
mod group;
mod harness;
mod idempotency;
mod inbox;
mod migrations;
mod nats;
mod nats_tls;
mod pg;
mod proxy;
mod refusals;
mod relay;
mod saga;
mod several_events;
mod standby;
mod trace;
