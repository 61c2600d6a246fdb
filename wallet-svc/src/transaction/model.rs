//! A transaction and its state machine. Pure.

use std::str::FromStr;

use chrono::{DateTime, Utc};
use platform::{ids::Id, money::Amount};

use super::metadata::Metadata;
use crate::{
    asset::model::AssetCode,
    wallet::model::{EXCHANGE, WalletId},
};

/// The id of a transaction.
pub type TransactionId = Id<Transaction>;

/// Where the money goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionType {
    /// From outside into a wallet.
    Deposit,
    /// From a wallet to another.
    Transfer,
    /// From a wallet to the outside.
    Withdrawal,
    /// From one asset of a wallet into another.
    Exchange,
}

impl TransactionType {
    /// Its public name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Deposit => "deposit",
            Self::Transfer => "transfer",
            Self::Withdrawal => "withdrawal",
            Self::Exchange => "exchange",
        }
    }
}

/// How far a transaction has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Created.
    Pending,
    /// Approved, being settled.
    Processing,
    /// Settled: its movements exist.
    Confirmed,
    /// Given up; nothing moved.
    Failed,
    /// Refused; nothing moved.
    Rejected,
}

impl Status {
    /// Its public name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Processing => "processing",
            Self::Confirmed => "confirmed",
            Self::Failed => "failed",
            Self::Rejected => "rejected",
        }
    }

    /// Whether money is held for it.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Processing)
    }

    /// Where the action leads from here, if it is allowed.
    pub const fn after(self, action: Action) -> Option<Self> {
        match (self, action) {
            (Self::Pending, Action::Approve) => Some(Self::Processing),
            (Self::Pending | Self::Processing, Action::Confirm) => Some(Self::Confirmed),
            (Self::Pending | Self::Processing, Action::Fail) => Some(Self::Failed),
            (Self::Pending, Action::Reject) => Some(Self::Rejected),
            _ => None,
        }
    }
}

/// A step in a transaction's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// It will be settled.
    Approve,
    /// It is settled.
    Confirm,
    /// It could not be settled.
    Fail,
    /// It will not be settled.
    Reject,
}

impl Action {
    /// Its public name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Confirm => "confirm",
            Self::Fail => "fail",
            Self::Reject => "reject",
        }
    }
}

/// Text in the database that is none of ours.
#[derive(Debug, thiserror::Error)]
#[error("unknown {kind} {text:?}")]
pub struct Unknown {
    /// Of what.
    pub kind: &'static str,
    /// What was found.
    pub text: String,
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

/// The part of a transaction that its creator gives and that never changes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Notes {
    /// For people.
    pub description: Option<String>,
    /// Where it came from, outside.
    pub origin_address: Option<String>,
    /// Where it goes, outside.
    pub destination_address: Option<String>,
    /// The client's own name for it.
    pub external_reference: Option<String>,
    /// The client's JSON object, as written.
    pub custom_data: Option<String>,
}

/// A step in a transaction's history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The state before; none where it was made.
    pub from: Option<Status>,
    /// The state after.
    pub to: Status,
    /// `user:<id>`, `key:<id>` or `service:<name>`.
    pub actor: String,
    /// When.
    pub created_at: DateTime<Utc>,
}

/// The two wallets between which the money moves; one may be the system's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sides {
    /// The wallet debited.
    pub debit: WalletId,
    /// The wallet credited.
    pub credit: WalletId,
}

/// An intent to move money, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transaction {
    /// Its id.
    pub id: TransactionId,
    /// Where the money goes.
    pub kind: TransactionType,
    /// `<feature>` or `<feature>:<method>`.
    pub code: String,
    /// How far it has come.
    pub status: Status,
    /// The asset moved.
    pub asset: AssetCode,
    /// How much of it; above zero.
    pub amount: Amount,
    /// The wallets in the ledger, system wallets included; one wallet twice in an exchange.
    pub sides: Sides,
    /// What its creator said of it.
    pub notes: Notes,
    /// Its name with a provider.
    pub external_id: Option<String>,
    /// Unique, made by the service.
    pub reference: String,
    /// JSON object of the service.
    pub metadata: Metadata,
    /// The ledger operation that it is part of, and its place in it.
    pub operation: Option<(String, i32)>,
    /// The transaction whose money it gives back.
    pub refunds: Option<TransactionId>,
    /// Counts its events from 1.
    pub version: i64,
    /// When it reached a final state.
    pub processed_at: Option<DateTime<Utc>>,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it changed last.
    pub updated_at: DateTime<Utc>,
}

impl Transaction {
    /// The wallet it is shown to come from: none for a deposit.
    pub fn origin(&self) -> Option<WalletId> {
        (self.kind != TransactionType::Deposit).then_some(self.sides.debit)
    }

    /// The wallet it is shown to go to: none for a withdrawal.
    pub fn destination(&self) -> Option<WalletId> {
        (self.kind != TransactionType::Withdrawal).then_some(self.sides.credit)
    }

    /// The system's wallet on the other side of a deposit or withdrawal, or between the assets of an
    /// exchange.
    pub fn system_wallet(&self) -> Option<WalletId> {
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
