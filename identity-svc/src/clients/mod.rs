//! Typed clients of other contexts.

pub mod wallet;
