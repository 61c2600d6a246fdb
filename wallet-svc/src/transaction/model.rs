//! A transaction and its state machine. Pure.

use std::str::FromStr;

use chrono::{DateTime, Utc};
use platform::{ids::Id, money::Amount};

use super::metadata::Metadata;
use crate::{
    asset::model::AssetCode,
    wallet::model::{EXCHANGE, WalletId},
};

pub(crate) type TransactionId = Id<Transaction>;

/// The direction in which money moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TransactionType {
    /// From outside to a wallet.
    Deposit,
    /// From one wallet to another.
    Transfer,
    /// From a wallet to outside.
    Withdrawal,
    /// From one asset of a wallet to another.
    Exchange,
}

impl TransactionType {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Deposit => "deposit",
            Self::Transfer => "transfer",
            Self::Withdrawal => "withdrawal",
            Self::Exchange => "exchange",
        }
    }
}

/// The status of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Pending,
    /// Approved; settlement is in progress.
    Processing,
    /// Settled; its movements exist.
    Confirmed,
    /// Not settled; nothing moved.
    Failed,
    /// Not approved; nothing moved.
    Rejected,
}

impl Status {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Processing => "processing",
            Self::Confirmed => "confirmed",
            Self::Failed => "failed",
            Self::Rejected => "rejected",
        }
    }

    /// Returns whether its debit is held.
    pub(crate) const fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Processing)
    }

    /// Returns the status after an action; `None` if the action is not allowed.
    pub(crate) const fn after(self, action: Action) -> Option<Self> {
        match (self, action) {
            (Self::Pending, Action::Approve) => Some(Self::Processing),
            (Self::Pending | Self::Processing, Action::Confirm) => Some(Self::Confirmed),
            (Self::Pending | Self::Processing, Action::Fail) => Some(Self::Failed),
            (Self::Pending, Action::Reject) => Some(Self::Rejected),
            _ => None,
        }
    }
}

/// A change of a transaction's status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Approve,
    Confirm,
    Fail,
    Reject,
}

impl Action {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Confirm => "confirm",
            Self::Fail => "fail",
            Self::Reject => "reject",
        }
    }
}

/// An unknown name in the database.
#[derive(Debug, thiserror::Error)]
#[error("unknown {kind} {text:?}")]
pub(crate) struct Unknown {
    pub(crate) kind: &'static str,
    pub(crate) text: String,
}

impl FromStr for TransactionType {
    type Err = Unknown;

    fn from_str(text: &str) -> Result<Self, Unknown> {
        let all = [
            Self::Deposit,
            Self::Transfer,
            Self::Withdrawal,
            Self::Exchange,
        ];
        find(all, text, Self::as_str, "transaction type")
    }
}

impl FromStr for Status {
    type Err = Unknown;

    fn from_str(text: &str) -> Result<Self, Unknown> {
        let all = [
            Self::Pending,
            Self::Processing,
            Self::Confirmed,
            Self::Failed,
            Self::Rejected,
        ];
        find(all, text, Self::as_str, "transaction status")
    }
}

fn find<T: Copy, const N: usize>(
    all: [T; N],
    text: &str,
    name: fn(T) -> &'static str,
    kind: &'static str,
) -> Result<T, Unknown> {
    all.into_iter()
        .find(|one| name(*one) == text)
        .ok_or_else(|| Unknown {
            kind,
            text: text.to_owned(),
        })
}

/// The texts that a transaction's creator gives; immutable.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Notes {
    pub(crate) description: Option<String>,
    /// The external address that the money comes from.
    pub(crate) origin_address: Option<String>,
    /// The external address that the money goes to.
    pub(crate) destination_address: Option<String>,
    /// The client's identifier.
    pub(crate) external_reference: Option<String>,
    /// JSON object of the client, as written.
    pub(crate) custom_data: Option<String>,
}

/// An entry of a transaction's history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// `None` for the creation.
    pub(crate) from: Option<Status>,
    pub(crate) to: Status,
    /// `user:<id>`, `key:<id>` or `service:<name>`.
    pub(crate) actor: String,
    pub(crate) created_at: DateTime<Utc>,
}

/// The two wallets between which money moves; one may be a system wallet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sides {
    pub(crate) debit: WalletId,
    pub(crate) credit: WalletId,
}

/// An intent to move money, with its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Transaction {
    pub(crate) id: TransactionId,
    pub(crate) kind: TransactionType,
    /// `<feature>` or `<feature>:<method>`.
    pub(crate) code: String,
    pub(crate) status: Status,
    pub(crate) asset: AssetCode,
    /// Above zero.
    pub(crate) amount: Amount,
    /// Includes system wallets; both are one wallet in an exchange.
    pub(crate) sides: Sides,
    pub(crate) notes: Notes,
    /// The provider's identifier.
    pub(crate) external_id: Option<String>,
    /// Unique; generated.
    pub(crate) reference: String,
    /// JSON object of the service.
    pub(crate) metadata: Metadata,
    /// The id of its ledger operation, and its index in it.
    pub(crate) operation: Option<(String, i32)>,
    /// The transaction that it refunds.
    pub(crate) refunds: Option<TransactionId>,
    /// Counts the events from 1.
    pub(crate) version: i64,
    /// The time of the final status.
    pub(crate) processed_at: Option<DateTime<Utc>>,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) updated_at: DateTime<Utc>,
}

impl Transaction {
    /// Returns the public origin; `None` for a deposit.
    pub(crate) fn origin(&self) -> Option<WalletId> {
        (self.kind != TransactionType::Deposit).then_some(self.sides.debit)
    }

    /// Returns the public destination; `None` for a withdrawal.
    pub(crate) fn destination(&self) -> Option<WalletId> {
        (self.kind != TransactionType::Withdrawal).then_some(self.sides.credit)
    }

    /// Returns the system wallet that is the other side; `None` for a transfer.
    pub(crate) fn system_wallet(&self) -> Option<WalletId> {
        match self.kind {
            TransactionType::Deposit => Some(self.sides.debit),
            TransactionType::Transfer => None,
            TransactionType::Withdrawal => Some(self.sides.credit),
            TransactionType::Exchange => Some(EXCHANGE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_table_is_the_documented_one() {
        use Action::{Approve, Confirm, Fail, Reject};
        use Status::{Confirmed, Failed, Pending, Processing, Rejected};
        let allowed = [
            (Pending, Approve, Processing),
            (Pending, Confirm, Confirmed),
            (Processing, Confirm, Confirmed),
            (Pending, Fail, Failed),
            (Processing, Fail, Failed),
            (Pending, Reject, Rejected),
        ];
        for from in [Pending, Processing, Confirmed, Failed, Rejected] {
            for action in [Approve, Confirm, Fail, Reject] {
                let to = allowed
                    .iter()
                    .find(|row| row.0 == from && row.1 == action)
                    .map(|row| row.2);
                assert_eq!(from.after(action), to, "{from:?} {action:?}");
            }
            assert_eq!(from.as_str().parse::<Status>().unwrap(), from);
        }
        assert!("done".parse::<Status>().is_err());
    }
}
