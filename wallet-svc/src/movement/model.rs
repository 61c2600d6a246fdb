//! An entry of the journal. Pure.

use chrono::{DateTime, Utc};
use platform::{ids::Id, money::Amount};

use crate::{
    asset::model::AssetCode,
    transaction::model::{TransactionId, TransactionType},
    wallet::model::WalletId,
};

pub(crate) type MovementId = Id<Movement>;

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
