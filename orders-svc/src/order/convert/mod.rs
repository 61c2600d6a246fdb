//! Conversions between the wire format and the model.

mod decode;
mod encode;

pub(super) use decode::{
    cancel_order, line_id, new_order, order_id, pay_order, refund_order, tracking_id,
    tracking_id_patch, units,
};
pub(super) use encode::{dry_run, line_with_product, order};
