//! The gRPC services: decode, call the use case, encode.

mod lines;
mod orders;

pub(crate) use lines::OrderLineGrpc;
pub(crate) use orders::OrderGrpc;
