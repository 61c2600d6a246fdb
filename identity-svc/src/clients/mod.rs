//! Typed clients of other contexts.

pub(crate) mod wallet;
