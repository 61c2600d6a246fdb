//! An entry of the ledger. Pure.

use chrono::{DateTime, Utc};
use platform::{ids::Id, money::Amount};

use crate::{
    asset::model::AssetCode,
    transaction::model::{TransactionId, TransactionType},
    wallet::model::WalletId,
};

/// The id of a movement.
pub type MovementId = Id<Movement>;

/// An entry of the ledger; never changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Movement {
    /// Its id.
    pub id: MovementId,
    /// The wallet it changes.
    pub wallet: WalletId,
    /// The asset.
    pub asset: AssetCode,
    /// Counts the movements of wallet and asset from 1.
    pub sequence: i64,
    /// The transaction that it settles.
    pub transaction: TransactionId,
    /// The type of that transaction.
    pub kind: TransactionType,
    /// Signed.
    pub amount: Amount,
    /// The balance that it led to.
    pub balance_after: Amount,
    /// When it was made.
    pub created_at: DateTime<Utc>,
}
