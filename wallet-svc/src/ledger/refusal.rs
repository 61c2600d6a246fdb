//! Why a posting is refused.

use platform::money::{Amount, DecimalPlaces, OutOfRange};

use super::AccountKey;
use crate::{
    asset::model::AssetCode,
    transaction::model::{Action, Status, TransactionId},
    wallet::model::WalletId,
};

/// Which wallet of a posting is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The one debited.
    Origin,
    /// The one credited.
    Destination,
}

/// Why a posting is refused; nothing of it has happened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no such wallet, or the caller may not know of it.
    #[error("there is no such wallet")]
    UnknownWallet(Side),
    /// Origin and destination are one.
    #[error("origin and destination are the same wallet")]
    SameWallet,
    /// The wallet accepts nothing.
    #[error("wallet {0} is locked")]
    WalletLocked(WalletId),
    /// There is no such asset.
    #[error("there is no asset {0}")]
    UnknownAsset(AssetCode),
    /// The asset accepts nothing.
    #[error("asset {0} is disabled")]
    AssetDisabled(AssetCode),
    /// The amount is finer than its asset.
    #[error("{asset} has at most {} decimals", .places.get())]
    Precision {
        /// The asset.
        asset: AssetCode,
        /// The decimals it has.
        places: DecimalPlaces,
    },
    /// The wallet holds less than is needed.
    #[error(
        "wallet {} holds {available} {} available, {needed} needed",
        .account.wallet, .account.asset
    )]
    InsufficientFunds {
        /// Where funds are missing.
        account: AccountKey,
        /// What can be spent there.
        available: Amount,
        /// What the posting takes.
        needed: Amount,
    },
    /// A sum would have more than 20 integer digits.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// There is no such transaction.
    #[error("there is no transaction {0}")]
    UnknownTransaction(TransactionId),
    /// The transaction's state does not allow the action.
    #[error("cannot {} a transaction that is {}", .action.as_str(), .status.as_str())]
    InvalidState {
        /// How far it has come.
        status: Status,
        /// What was asked.
        action: Action,
    },
    /// There is no such operation.
    #[error("there is no such operation")]
    UnknownOperation,
    /// Its id names an operation that was accepted with other content.
    #[error("the operation id was used for another operation")]
    OperationReused,
    /// The operation has no transfer in this place.
    #[error("the operation has no posting {0}")]
    UnknownPart(i32),
    /// What would go back has never moved.
    #[error("the operation is {}, nothing of it has moved", .0.as_str())]
    NotCaptured(Status),
    /// More would go back than is left of what was moved.
    #[error("{0} can go back")]
    RefundExceeds(Amount),
    /// An order's bonus was first credited to another wallet or in another asset.
    #[error("the order's bonus belongs to another wallet or asset")]
    BonusElsewhere,
    /// A balance that the decision needs was not loaded: a fault of ours.
    #[error("the balance of {} {} was not loaded", .0.wallet, .0.asset)]
    NotLoaded(AccountKey),
}
