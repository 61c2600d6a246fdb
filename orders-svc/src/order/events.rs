//! Encodes domain events of orders for the outbox.

use std::collections::BTreeMap;

use platform::{
    clock::to_proto,
    ids::Ids,
    messaging::outbox::{Aggregate, Message},
    money::Amount,
};
use proto::events::v1 as wire;

use super::model::{Event, Order, TransactionId};
use crate::SCHEMA;

/// Encodes events with the order's current state. Each one raises the order's version, so the order
/// must be written in the same transaction, under its row lock.
pub(super) fn messages(order: &mut Order, events: &[Event], ids: &Ids) -> Vec<Message> {
    events
        .iter()
        .map(|event| {
            order.version += 1;
            message(order, event, ids)
        })
        .collect()
}

fn message(order: &Order, event: &Event, ids: &Ids) -> Message {
    match event {
        Event::Placed => wrap(order, ids, "OrderPlaced", &placed(order)),
        Event::PaymentReceived {
            amount,
            transactions,
        } => {
            let body = payment_received(order, *amount, transactions);
            wrap(order, ids, "OrderPaymentReceived", &body)
        }
        Event::Paid => wrap(order, ids, "OrderPaid", &paid(order)),
        Event::Fulfilled => wrap(order, ids, "OrderFulfilled", &fulfilled(order)),
        Event::Unfulfilled => wrap(order, ids, "OrderUnfulfilled", &unfulfilled(order)),
        Event::Canceled { refunded, refund } => {
            let body = canceled(order, refunded, *refund);
            wrap(order, ids, "OrderCanceled", &body)
        }
        Event::Refunded {
            amounts,
            refund,
            transactions,
        } => {
            let body = refunded(order, amounts, *refund, transactions);
            wrap(order, ids, "OrderRefunded", &body)
        }
    }
}

fn wrap(order: &Order, ids: &Ids, event: &str, body: &impl prost::Message) -> Message {
    let aggregate = Aggregate {
        kind: "order",
        id: order.id.uuid(),
        version: order.version,
    };
    Message::new(SCHEMA, ids.uuid(), event, aggregate, body)
}

fn placed(order: &Order) -> wire::OrderPlaced {
    wire::OrderPlaced {
        order_id: order.id.into(),
        version: order.version,
        user_id: order.user_id.into(),
        amount: order.amount.into(),
        asset_code: order.asset_code.clone(),
    }
}

fn payment_received(
    order: &Order,
    amount: Amount,
    transactions: &[TransactionId],
) -> wire::OrderPaymentReceived {
    wire::OrderPaymentReceived {
        order_id: order.id.into(),
        version: order.version,
        user_id: order.user_id.into(),
        amount: amount.into(),
        asset_code: order.asset_code.clone(),
        paid_amount: order.paid_amount.into(),
        unpaid_amount: order.unpaid_amount().into(),
        transaction_ids: ids_as_text(transactions),
    }
}

fn paid(order: &Order) -> wire::OrderPaid {
    wire::OrderPaid {
        order_id: order.id.into(),
        version: order.version,
        user_id: order.user_id.into(),
        wallet_id: order.wallet_id.into(),
        amount: order.amount.into(),
        asset_code: order.asset_code.clone(),
        bonus: order.bonus.into(),
        bonus_asset_code: order.bonus_asset_code.clone(),
        paid_at: order.paid_at.map(to_proto),
    }
}

fn fulfilled(order: &Order) -> wire::OrderFulfilled {
    wire::OrderFulfilled {
        order_id: order.id.into(),
        version: order.version,
        user_id: order.user_id.into(),
        fulfilled_at: order.fulfilled_at.map(to_proto),
    }
}

fn unfulfilled(order: &Order) -> wire::OrderUnfulfilled {
    wire::OrderUnfulfilled {
        order_id: order.id.into(),
        version: order.version,
        user_id: order.user_id.into(),
    }
}

fn canceled(
    order: &Order,
    refunded: &BTreeMap<String, Amount>,
    refund: Amount,
) -> wire::OrderCanceled {
    wire::OrderCanceled {
        order_id: order.id.into(),
        version: order.version,
        user_id: order.user_id.into(),
        wallet_id: order.wallet_id.into(),
        refunded: by_asset(refunded),
        bonus_revoked: order.bonus_revoked.into(),
        bonus_asset_code: order.bonus_asset_code.clone(),
        amount: order.amount.into(),
        refunded_amount: refund.into(),
        asset_code: order.asset_code.clone(),
        unearned_amount: order.unearned_amount().into(),
    }
}

fn refunded(
    order: &Order,
    amounts: &BTreeMap<String, Amount>,
    refund: Amount,
    transactions: &[TransactionId],
) -> wire::OrderRefunded {
    wire::OrderRefunded {
        order_id: order.id.into(),
        version: order.version,
        user_id: order.user_id.into(),
        wallet_id: order.wallet_id.into(),
        refunded: by_asset(amounts),
        bonus_revoked: order.bonus_revoked.into(),
        bonus_asset_code: order.bonus_asset_code.clone(),
        transaction_ids: ids_as_text(transactions),
        amount: order.amount.into(),
        refunded_amount: refund.into(),
        asset_code: order.asset_code.clone(),
        unearned_amount: order.unearned_amount().into(),
    }
}

fn by_asset(amounts: &BTreeMap<String, Amount>) -> Vec<wire::RefundedAmount> {
    amounts
        .iter()
        .map(|(asset_code, amount)| wire::RefundedAmount {
            amount: (*amount).into(),
            asset_code: asset_code.clone(),
        })
        .collect()
}

fn ids_as_text(transactions: &[TransactionId]) -> Vec<String> {
    transactions.iter().map(ToString::to_string).collect()
}
