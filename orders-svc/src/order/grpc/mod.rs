//! The gRPC services: decode, call the use case, encode.

mod history;
mod lines;
mod orders;

pub(crate) use history::OrderHistoryGrpc;
pub(crate) use lines::OrderLineGrpc;
pub(crate) use orders::OrderGrpc;
