//! Converts movements to messages.

use platform::clock::to_proto;
use proto::wallet::v1 as wire;

use super::model::Movement;
use crate::transaction::{convert, model::Transaction};

/// Encodes a movement, with its transaction if that is included.
pub(crate) fn movement(movement: &Movement, transaction: Option<&Transaction>) -> wire::Movement {
    wire::Movement {
        id: movement.id.to_string(),
        wallet_id: movement.wallet.to_string(),
        transaction_id: movement.transaction.to_string(),
        transaction: transaction.map(convert::transaction),
        asset_code: movement.asset.to_string(),
        amount: movement.amount.to_string(),
        code: movement.kind.as_str().to_owned(),
        created_at: Some(to_proto(movement.created_at)),
        updated_at: Some(to_proto(movement.created_at)),
    }
}
