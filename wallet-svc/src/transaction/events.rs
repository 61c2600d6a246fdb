//! The events of transactions.

use platform::{
    ids::Ids,
    messaging::outbox::{Aggregate, Message},
};
use proto::events::v1::{
    TransactionApproved, TransactionConfirmed, TransactionCreated, TransactionFailed,
    TransactionRejected, TransactionSummary,
};

use super::model::{Status, Transaction};
use crate::{SCHEMA, ledger::StatusChange};

/// Returns the events of a status change: one, or two where a transaction is created as confirmed.
pub(crate) fn messages(tx: &Transaction, change: &StatusChange, ids: &Ids) -> Vec<Message> {
    let summary = |version| Some(summary(tx, version));
    let aggregate = |version| Aggregate {
        kind: "transaction",
        id: tx.id.uuid(),
        version,
    };
    let mut messages = Vec::with_capacity(2);
    if change.from.is_none() {
        let body = TransactionCreated {
            transaction: summary(1),
        };
        messages.push(Message::new(
            SCHEMA,
            ids.uuid(),
            "TransactionCreated",
            aggregate(1),
            &body,
        ));
        if change.version == 1 {
            return messages;
        }
    }
    let (version, transaction) = (aggregate(change.version), summary(change.version));
    let id = ids.uuid();
    messages.push(match change.to {
        Status::Confirmed => {
            let body = TransactionConfirmed { transaction };
            Message::new(SCHEMA, id, "TransactionConfirmed", version, &body)
        }
        Status::Failed => {
            let body = TransactionFailed { transaction };
            Message::new(SCHEMA, id, "TransactionFailed", version, &body)
        }
        Status::Rejected => {
            let body = TransactionRejected { transaction };
            Message::new(SCHEMA, id, "TransactionRejected", version, &body)
        }
        Status::Pending | Status::Processing => {
            let body = TransactionApproved { transaction };
            Message::new(SCHEMA, id, "TransactionApproved", version, &body)
        }
    });
    messages
}

fn summary(tx: &Transaction, version: i64) -> TransactionSummary {
    TransactionSummary {
        transaction_id: tx.id.to_string(),
        version,
        r#type: tx.kind.as_str().to_owned(),
        code: tx.code.clone(),
        amount: tx.amount.to_string(),
        asset_code: tx.asset.to_string(),
        origin_wallet_id: tx.origin().map(String::from).unwrap_or_default(),
        destination_wallet_id: tx.destination().map(String::from).unwrap_or_default(),
        order_id: tx.metadata.order_id().unwrap_or_default(),
    }
}
