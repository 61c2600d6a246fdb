//! Conversions between the wire format and the model.

mod decode;
mod encode;
mod history;
mod metadata;
mod receipt;

pub(super) use decode::{
    cancel_order, line_id, new_order, note, order_id, pay_order, refund_order, tracking_id,
    tracking_id_patch, units,
};
pub(super) use encode::{dry_run, line_with_product, order};
pub(super) use history::{history_entry, payment, visible_history_entry};
pub(super) use receipt::{Receipt, receipt};
