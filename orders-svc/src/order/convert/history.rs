//! Encodes the history of an order and its payments.

use platform::{auth::Caller, clock::to_proto};
use proto::orders::v1 as wire;

use super::encode::{order_status, payment_status};
use crate::order::repo::{history::Recorded, transactions::OrderTransaction};

/// Encodes a payment or refund.
pub(in crate::order) fn payment(it: OrderTransaction) -> wire::OrderPayment {
    let kind = if it.refund_id.is_some() {
        wire::OrderPaymentType::Refund
    } else {
        wire::OrderPaymentType::Payment
    };
    wire::OrderPayment {
        transaction_id: it.transaction_id.into(),
        order_id: it.order_id.into(),
        r#type: kind.into(),
        amount: it.amount.into(),
        asset_code: it.asset_code,
        order_amount: it.order_amount.into(),
        wallet_id: it.wallet_id.into(),
        bonus: it.is_bonus,
        refunded_amount: it.refunded_amount.map(Into::into),
        payment_id: it.payment_id.map(Into::into),
        refund_id: it.refund_id.map(|id| id.to_string()),
        reason: it.reason,
        created_at: Some(to_proto(it.created_at)),
    }
}

/// Encodes an entry for an admin.
pub(in crate::order) fn history_entry(entry: Recorded) -> wire::OrderHistoryEntry {
    let from_order = entry.from_order_status.map(order_status);
    let from_payment = entry.from_payment_status.map(payment_status);
    wire::OrderHistoryEntry {
        id: entry.id.to_string(),
        order_id: entry.order_id.into(),
        action: entry.action.as_str().to_owned(),
        actor: entry.actor,
        from_order_status: from_order.unwrap_or_default().into(),
        order_status: order_status(entry.order_status).into(),
        from_payment_status: from_payment.unwrap_or_default().into(),
        payment_status: payment_status(entry.payment_status).into(),
        amount: entry.amount.map(Into::into),
        asset_code: entry.asset_code,
        reason: entry.reason,
        note: entry.note,
        details: entry.details,
        created_at: Some(to_proto(entry.created_at)),
    }
}

/// Encodes an entry as the caller may see it: a user is not told which admin or service acted.
pub(in crate::order) fn visible_history_entry(
    entry: Recorded,
    caller: &Caller,
) -> wire::OrderHistoryEntry {
    let mut encoded = history_entry(entry);
    if !caller.is_admin() && encoded.actor != caller.name() {
        let by_service = encoded.actor.starts_with("service:");
        let shown = if by_service { "system" } else { "staff" };
        shown.clone_into(&mut encoded.actor);
    }
    encoded
}
