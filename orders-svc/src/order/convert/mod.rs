//! Between the wire and the model.

mod decode;
mod encode;

pub use decode::{amount, new_order, quantity, reason};
pub use encode::{answer, hide_ids, line, order_with_lines};
