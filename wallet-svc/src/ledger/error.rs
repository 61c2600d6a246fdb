//! Why the ledger rejects a command.

use platform::money::{Amount, DecimalPlaces, OutOfRange};

use super::AccountKey;
use crate::{
    asset::model::AssetCode,
    transaction::model::{Action, Status, TransactionId},
    wallet::model::WalletId,
};

/// One of the two wallets of a posting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The one debited.
    Origin,
    /// The one credited.
    Destination,
}

/// Why the ledger rejects a command; nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LedgerError {
    /// The wallet does not exist, is a system wallet, or is not the caller's.
    #[error("wallet not found")]
    WalletNotFound(Side),
    /// Origin and destination are one wallet.
    #[error("a wallet cannot pay itself")]
    SameWallet,
    /// The wallet is locked.
    #[error("wallet {0} is locked")]
    WalletLocked(WalletId),
    /// The asset does not exist.
    #[error("asset not found")]
    AssetNotFound(AssetCode),
    /// The asset is disabled.
    #[error("asset {0} is disabled")]
    AssetDisabled(AssetCode),
    /// The amount has more decimals than its asset.
    #[error("{asset} has at most {} decimals", .places.get())]
    Precision {
        asset: AssetCode,
        places: DecimalPlaces,
    },
    /// Less is available than needed.
    #[error(
        "wallet {} has {available} {} available, {needed} needed",
        .account.wallet, .account.asset
    )]
    InsufficientFunds {
        account: AccountKey,
        available: Amount,
        needed: Amount,
    },
    /// A sum would have more than 20 integer digits.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// The transaction does not exist.
    #[error("transaction not found")]
    TransactionNotFound(TransactionId),
    /// The transaction's status does not allow the action.
    #[error("cannot {} a transaction that is {}", .action.as_str(), .status.as_str())]
    InvalidState { status: Status, action: Action },
    /// The operation does not exist.
    #[error("operation not found")]
    OperationNotFound,
    /// The operation's time is over, but it cannot be said yet that it was never accepted.
    #[error("the operation's time is over")]
    OperationLate,
    /// The operation's time is over, and it was never accepted.
    #[error("the operation's time is over, it had no effect")]
    OperationExpired,
    /// The operation's id was accepted before with other content.
    #[error("the operation id was used for another operation")]
    OperationReused,
    /// The operation has no transfer with this index.
    #[error("the operation has no posting {0}")]
    PartNotFound(i32),
    /// The operation's money has not moved, so it cannot be refunded.
    #[error("the operation is {}, there is nothing to refund", .0.as_str())]
    NotCaptured(Status),
    /// The refund is larger than the rest that can be refunded.
    #[error("at most {0} can be refunded")]
    RefundExceeds(Amount),
    /// The order's bonus was credited to another wallet or in another asset.
    #[error("the order's bonus belongs to another wallet or asset")]
    BonusAccountMismatch,
    /// A balance that the decision needs was not loaded: a bug.
    #[error("the balance of {} {} was not loaded", .0.wallet, .0.asset)]
    NotLoaded(AccountKey),
}
