//! The events of transactions and of orders' bonuses.

use platform::{
    ids::Ids,
    messaging::outbox::{Aggregate, Message},
};
use proto::events::v1::{
    BonusRevoked, TransactionApproved, TransactionConfirmed, TransactionCreated, TransactionFailed,
    TransactionRejected, TransactionSummary,
};

use super::model::{Status, Transaction};
use crate::{
    SCHEMA,
    ledger::{OrderBonus, StatusChange},
};

/// Returns the event of a status change. A transaction that is confirmed as it is created has one event.
pub(crate) fn status_changed(tx: &Transaction, change: &StatusChange, ids: &Ids) -> Message {
    let version = change.version;
    let transaction = Some(summary(tx, version));
    let created = change.from.is_none();
    match change.to {
        Status::Confirmed => {
            let body = TransactionConfirmed {
                transaction,
                created,
            };
            message(tx, version, "TransactionConfirmed", &body, ids)
        }
        Status::Failed => {
            let body = TransactionFailed { transaction };
            message(tx, version, "TransactionFailed", &body, ids)
        }
        Status::Rejected => {
            let body = TransactionRejected { transaction };
            message(tx, version, "TransactionRejected", &body, ids)
        }
        Status::Pending | Status::Processing if created => {
            let body = TransactionCreated { transaction };
            message(tx, version, "TransactionCreated", &body, ids)
        }
        Status::Pending | Status::Processing => {
            let body = TransactionApproved { transaction };
            message(tx, version, "TransactionApproved", &body, ids)
        }
    }
}

/// Returns the event of a buyer's bonus of which more is revoked, or less is owed.
pub(crate) fn bonus_revoked(bonus: &OrderBonus, ids: &Ids) -> Message {
    let body = BonusRevoked {
        order_id: bonus.key.order.to_string(),
        version: bonus.version,
        wallet_id: bonus.wallet.to_string(),
        asset_code: bonus.asset.to_string(),
        revoked: bonus.revoked.to_string(),
        owed: bonus.owed.to_string(),
    };
    let aggregate = Aggregate {
        kind: "order_bonus",
        id: bonus.key.order.uuid(),
        version: bonus.version,
    };
    Message::new(SCHEMA, ids.uuid(), "BonusRevoked", aggregate, &body)
}

fn message(
    tx: &Transaction,
    version: i64,
    event: &str,
    body: &impl prost::Message,
    ids: &Ids,
) -> Message {
    let aggregate = Aggregate {
        kind: "transaction",
        id: tx.id.uuid(),
        version,
    };
    Message::new(SCHEMA, ids.uuid(), event, aggregate, body)
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
