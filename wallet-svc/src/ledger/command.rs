//! The commands of the ledger.

use chrono::{DateTime, Utc};
use platform::money::Amount;

use super::BonusKey;
use crate::{
    asset::model::AssetCode,
    transaction::{
        metadata::Metadata,
        model::{Action, Notes, Sides, Status, TransactionId, TransactionType},
    },
    wallet::model::{UserId, WalletId},
};

/// A request to the ledger, accepted or rejected whole.
#[derive(Debug, Clone)]
pub(crate) enum Command {
    /// Creates a transaction.
    Create(Create),
    /// Changes a transaction's status.
    Advance(Advance),
    /// Posts or holds transfers under an operation id.
    Post(Operation),
    /// Captures or releases a hold.
    EndHold(EndHold),
    /// Refunds an operation.
    Refund(Refund),
    /// Exchanges money of a wallet into another asset.
    Exchange(Exchange),
    /// Adjusts an order's bonus.
    Bonus(BonusChange),
    /// Credits a reward.
    Reward(Reward),
}

/// A new transaction.
#[derive(Debug, Clone)]
pub(crate) struct Create {
    /// Its id, drawn by the caller.
    pub id: TransactionId,
    /// Deposit, transfer, withdrawal or exchange.
    pub kind: TransactionType,
    /// `<feature>` or `<feature>:<method>`.
    pub code: String,
    pub asset: AssetCode,
    /// The amount; above zero.
    pub amount: Amount,
    /// The wallets, one of them a system wallet in a deposit or withdrawal.
    pub sides: Sides,
    /// The first status: pending, processing or confirmed.
    pub status: Status,
    /// Description, addresses, references and custom data.
    pub notes: Notes,
    /// JSON object made by the service.
    pub metadata: Metadata,
    /// The user that has to own the origin, if any.
    pub owner: Option<UserId>,
}

/// A status change of a transaction.
#[derive(Debug, Clone)]
pub(crate) struct Advance {
    pub id: TransactionId,
    /// Approve, confirm, fail or reject.
    pub action: Action,
    /// Reason of a failure or rejection: JSON text.
    pub reason: Option<String>,
}

/// Transfers that are accepted together or not at all.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    /// Unique: never used for another operation.
    pub id: String,
    pub legs: Vec<Leg>,
    /// Whether the money moves now or is held.
    pub mode: Mode,
    /// The latest time at which it may be accepted, by the database's clock.
    pub not_after: Option<DateTime<Utc>>,
}

/// How an operation treats the money of its transfers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Moves it now.
    Post,
    /// Holds it until it is captured or released.
    Hold,
}

impl Mode {
    /// Returns the first status of the transfers.
    pub(crate) const fn status(self) -> Status {
        match self {
            Self::Post => Status::Confirmed,
            Self::Hold => Status::Processing,
        }
    }
}

/// The capture or release of a hold.
#[derive(Debug, Clone)]
pub(crate) struct EndHold {
    pub operation: String,
    /// [`Action::Confirm`] captures, [`Action::Fail`] releases.
    pub action: Action,
}

/// A refund of an operation.
#[derive(Debug, Clone)]
pub(crate) struct Refund {
    /// The refund's own operation id.
    pub id: String,
    /// The operation to refund.
    pub of: String,
    /// The transfers to refund; empty: the whole rest of the operation.
    pub parts: Vec<RefundPart>,
    pub description: Option<String>,
    /// JSON object.
    pub metadata: Metadata,
}

/// A part of a refund.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RefundPart {
    /// Index of the transfer in its operation.
    pub index: i32,
    /// The amount to refund; above zero.
    pub amount: Amount,
}

/// An exchange of a wallet's money into another asset, with the rate applied.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    /// The transaction with the amount debited, of kind [`TransactionType::Exchange`].
    pub base: Create,
    pub quote_asset: AssetCode,
    /// The amount; above zero.
    pub quote_amount: Amount,
}

/// One transfer of an operation.
#[derive(Debug, Clone)]
pub(crate) struct Leg {
    /// The transaction's id, drawn by the caller.
    pub id: TransactionId,
    /// `pay` or `refund`.
    pub code: String,
    pub asset: AssetCode,
    /// The amount; above zero.
    pub amount: Amount,
    pub sides: Sides,
    pub description: Option<String>,
    /// JSON object.
    pub metadata: Metadata,
    /// Passes locked wallets and disabled assets.
    pub returns_money: bool,
}

/// New totals of an order's bonus; what is `None` stays as it was.
#[derive(Debug, Clone)]
pub(crate) struct BonusChange {
    pub key: BonusKey,
    /// The primary wallet of the user who receives it.
    pub wallet: WalletId,
    pub asset: AssetCode,
    /// The whole bonus, once the order is paid.
    pub granted: Option<Amount>,
    /// The total taken back so far.
    pub revoked: Option<Amount>,
    /// The id of the transaction that credits it, if the event gives one.
    pub transaction: Option<TransactionId>,
}

/// A reward for a task, or for the referral of the user who completed it.
#[derive(Debug, Clone)]
pub(crate) struct Reward {
    /// The transaction's id, given by the event.
    pub id: TransactionId,
    /// The user's primary wallet.
    pub wallet: WalletId,
    pub asset: AssetCode,
    /// The amount; above zero.
    pub amount: Amount,
    /// JSON object.
    pub metadata: Metadata,
}
