//! orders-svc on a real Postgres (`DATABASE_URL`, a role that may create databases), with small
//! servers in the places of catalog-svc, wallet-svc and identity-svc.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod access;
mod answers;
mod bed;
mod bonus;
mod cancel;
mod create;
mod dry_run;
mod fakes;
mod fulfil;
mod idempotency;
mod lists;
mod pay;
mod recovery;
mod shop;
