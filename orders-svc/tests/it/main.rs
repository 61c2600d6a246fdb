//! orders-svc on a real Postgres (`DATABASE_URL`, a role that may create databases), with fakes of
//! catalog-svc, wallet-svc and identity-svc.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod access;
mod answers;
mod assertions;
mod bad_carts;
mod bad_input;
mod bad_refunds;
mod bonus;
mod cancel;
mod client;
mod create;
mod dry_run;
mod events;
mod fakes;
mod fulfil;
mod harness;
mod history;
mod idempotency;
mod idempotency_races;
mod lists;
mod pay;
mod pay_on_create;
mod peers;
mod preconditions;
mod receipt;
mod recovery;
mod refund;
mod refund_races;
mod refund_recovery;
mod snapshot;
mod wrong_state;
