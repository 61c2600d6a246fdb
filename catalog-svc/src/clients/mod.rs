//! Typed wrappers over the gRPC clients of other contexts.

pub mod wallet;
