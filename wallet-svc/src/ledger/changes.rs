//! The changes that a batch has decided and one write persists.

use std::collections::BTreeSet;

use super::{AccountKey, BonusKey, OrderBonus};
use crate::{
    movement::model::Movement,
    transaction::model::{Status, TransactionId},
};

/// A change of a transaction's status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StatusChange {
    pub transaction: TransactionId,
    /// The status before; none where the transaction is new.
    pub from: Option<Status>,
    pub to: Status,
    /// The transaction's version after.
    pub version: i64,
}

/// The keys of everything that has changed in a book, which holds the rows.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_field_names,
    reason = "a status change is the field's term"
)]
pub(crate) struct Changes {
    /// New transactions, in the order of decision.
    pub created: Vec<TransactionId>,
    /// Changed transactions that existed before.
    pub updated: BTreeSet<TransactionId>,
    /// Movements, in the order of decision.
    pub movements: Vec<Movement>,
    /// Status changes, in the order of decision.
    pub status_changes: Vec<StatusChange>,
    pub accounts: BTreeSet<AccountKey>,
    pub bonuses: BTreeSet<BonusKey>,
    /// The buyers' bonuses of which more was revoked, or less was owed, as they were then, in the order of
    /// decision.
    pub revocations: Vec<OrderBonus>,
}

impl Changes {
    /// Whether there is nothing to write.
    pub(crate) fn is_empty(&self) -> bool {
        self.status_changes.is_empty() && self.bonuses.is_empty()
    }
}
