//! What a group has decided: everything that one statement writes.

use std::collections::BTreeSet;

use super::{AccountKey, OrderId};
use crate::{
    movement::model::Movement,
    transaction::model::{Status, TransactionId},
};

/// A change of a transaction's state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The transaction.
    pub transaction: TransactionId,
    /// The state before; none where the transaction is new.
    pub from: Option<Status>,
    /// The state after.
    pub to: Status,
    /// The transaction's version after.
    pub version: i64,
}

/// Everything that has changed in a book. The rows are in the book.
#[derive(Debug, Default)]
pub struct Changes {
    /// Transactions made, in the order of decision.
    pub created: Vec<TransactionId>,
    /// Transactions that existed before and changed.
    pub updated: BTreeSet<TransactionId>,
    /// Movements, in the order of decision.
    pub movements: Vec<Movement>,
    /// Changes of state, in the order of decision.
    pub steps: Vec<Step>,
    /// Accounts changed.
    pub accounts: BTreeSet<AccountKey>,
    /// Bonuses changed.
    pub bonuses: BTreeSet<OrderId>,
}

impl Changes {
    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.bonuses.is_empty()
    }
}
