//! The harness of the whole-system tests: a running stack, seen by its clients.

mod events;
mod harness;
mod skip;

pub use harness::{ApiResponse, TestApp, text, usd};
pub use skip::report_skipped;
