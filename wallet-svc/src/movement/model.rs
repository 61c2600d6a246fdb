//! An entry of the journal. Pure.

use chrono::{DateTime, Utc};
use platform::{
    ids::{self, Id},
    money::Amount,
};
use uuid::Uuid;

use crate::{
    asset::model::AssetCode,
    transaction::model::{TransactionId, TransactionType},
    wallet::model::WalletId,
};

pub(crate) type MovementId = Id<Movement>;

/// The most movements that a transaction has: an exchange has two in each asset.
pub(crate) const MAX_MOVEMENTS: u8 = 4;

/// Returns the id of the movement with this number, from 0, of a transaction whose money moved at this time: the
/// transaction's id with that time, and the number in the last four bits. The function `wallet.movement_id` returns
/// the same.
pub(crate) fn movement_id(
    transaction: TransactionId,
    moved_at: DateTime<Utc>,
    number: u8,
) -> MovementId {
    let id = ids::with_time(transaction.uuid(), moved_at).as_u128();
    Id::new(Uuid::from_u128(id & !0xf | u128::from(number & 0xf)))
}

/// An entry of the journal; immutable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Movement {
    pub(crate) id: MovementId,
    pub(crate) wallet: WalletId,
    pub(crate) asset: AssetCode,
    /// Counts the movements of a wallet and asset from 1.
    pub(crate) sequence: i64,
    pub(crate) transaction: TransactionId,
    /// The type of the transaction.
    pub(crate) kind: TransactionType,
    /// Signed.
    pub(crate) amount: Amount,
    pub(crate) balance_after: Amount,
    pub(crate) created_at: DateTime<Utc>,
}
