//! The harness of the whole-system tests: a running stack, seen by its clients.

mod collector;
mod events;
mod harness;
mod mail;
pub mod page;
mod skip;

pub use collector::{ExportedSpan, TraceCollector};
pub use harness::{ApiResponse, TestApp, text, usd};
pub use mail::token_in;
pub use skip::report_skipped;
