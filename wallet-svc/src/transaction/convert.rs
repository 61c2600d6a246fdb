//! Transactions on the wire.

use platform::clock::to_proto;
use proto::wallet::v1 as wire;

use super::model::{Change, Status, Transaction, TransactionType};

/// As the wire has it.
pub fn transaction(tx: &Transaction) -> wire::Transaction {
    wire::Transaction {
        id: tx.id.to_string(),
        r#type: kind(tx.kind).into(),
        code: tx.code.clone(),
        status: status(tx.status).into(),
        asset_code: tx.asset.to_string(),
        amount: tx.amount.to_string(),
        description: tx.notes.description.clone(),
        origin_wallet_id: tx.origin().map(String::from),
        destination_wallet_id: tx.destination().map(String::from),
        origin_address: tx.notes.origin_address.clone(),
        destination_address: tx.notes.destination_address.clone(),
        external_id: tx.external_id.clone(),
        external_reference: tx.notes.external_reference.clone(),
        reference: tx.reference.clone(),
        custom_data: tx
            .notes
            .custom_data
            .clone()
            .unwrap_or_else(|| "{}".to_owned()),
        metadata: tx.metadata.as_str().to_owned(),
        processed_at: tx.processed_at.map(to_proto),
        created_at: Some(to_proto(tx.created_at)),
        updated_at: Some(to_proto(tx.updated_at)),
    }
}

/// As the wire has it.
pub fn change(change: &Change) -> wire::TransactionChange {
    wire::TransactionChange {
        from: change.from.map(|from| status(from).into()),
        to: status(change.to).into(),
        actor: change.actor.clone(),
        created_at: Some(to_proto(change.created_at)),
    }
}

const fn kind(kind: TransactionType) -> wire::TransactionType {
    match kind {
        TransactionType::Deposit => wire::TransactionType::Deposit,
        TransactionType::Transfer => wire::TransactionType::Transfer,
        TransactionType::Withdrawal => wire::TransactionType::Withdrawal,
        TransactionType::Exchange => wire::TransactionType::Exchange,
    }
}

const fn status(status: Status) -> wire::TransactionStatus {
    match status {
        Status::Pending => wire::TransactionStatus::Pending,
        Status::Processing => wire::TransactionStatus::Processing,
        Status::Confirmed => wire::TransactionStatus::Confirmed,
        Status::Failed => wire::TransactionStatus::Failed,
        Status::Rejected => wire::TransactionStatus::Rejected,
    }
}
