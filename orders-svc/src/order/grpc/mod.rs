//! The gRPC services: decode, call, encode.

mod lines;
mod orders;

use platform::ids::Id;

pub use lines::OrderLineGrpc;
pub use orders::OrderGrpc;

use super::model::{LineId, OrderId};
use crate::error::Error;

/// An id that stands where a path would: one that is none names nothing.
fn order_id(text: &str) -> Result<OrderId, Error> {
    Id::parse(text).map_err(|_| Error::OrderNotFound)
}

fn line_id(text: &str) -> Result<LineId, Error> {
    Id::parse(text).map_err(|_| Error::OrderLineNotFound)
}
