//! Decides one command on the book.

use super::{Advance, Book, Command, Create, LedgerError, transition::Transition};
use crate::transaction::model::{Action, Status, Transaction, TransactionId};

impl Book {
    /// Decides a command and applies its effects; a rejected one leaves the book as before. Returns
    /// the transactions it created or changed, or those that an earlier command of the same operation
    /// or transaction id created. A reward returns its own, without the debts that it settled.
    pub(crate) fn decide(&mut self, command: &Command) -> Result<Vec<Transaction>, LedgerError> {
        if let Some(result) = self.earlier_result(command) {
            return result;
        }
        let mut transition = Transition::new(self);
        match command {
            Command::Create(create) => transition.create(create)?,
            Command::Advance(advance) => transition.advance(advance)?,
            Command::Post(operation) => transition.post(operation)?,
            Command::EndHold(end) => transition.end_hold(end)?,
            Command::Refund(refund) => transition.refund(refund)?,
            Command::Exchange(exchange) => transition.exchange(exchange)?,
            Command::Bonus(change) => transition.adjust_bonus(change)?,
            Command::Reward(reward) => transition.reward(reward)?,
        }
        let mut result = transition.into_effects().apply_to(self);
        if let Command::Reward(reward) = command {
            result.retain(|tx| tx.id == reward.id);
        }
        Ok(result)
    }

    /// Returns the result of an earlier command with the same transaction or operation id.
    fn earlier_result(&self, command: &Command) -> Option<Result<Vec<Transaction>, LedgerError>> {
        let find = |id: &TransactionId| self.transactions.get(id).cloned();
        if let Command::Reward(reward) = command {
            return find(&reward.id).map(|tx| Ok(vec![tx]));
        }
        let ids = self.operations.get(command.new_operation()?)?;
        let made: Vec<_> = ids.iter().filter_map(find).collect();
        Some(command.ensure_same(&made, self).map(|()| made))
    }
}

impl Transition<'_> {
    fn create(&mut self, create: &Create) -> Result<(), LedgerError> {
        let tx = self.new_transaction(create);
        self.ensure_owned(create, &tx)?;
        self.validate(&tx, false)?;
        self.begin(tx)
    }

    /// Adds a new transaction: moves its money if it starts as confirmed, else reserves it.
    pub(super) fn begin(&mut self, tx: Transaction) -> Result<(), LedgerError> {
        if tx.status == Status::Confirmed {
            self.settle(&tx)?;
        } else {
            self.reserve(&tx)?;
        }
        self.insert(tx)
    }

    pub(super) fn new_transaction(&self, create: &Create) -> Transaction {
        let now = self.book.now;
        let confirmed = create.status == Status::Confirmed;
        Transaction {
            id: create.id,
            kind: create.kind,
            code: create.code.clone(),
            status: create.status,
            asset: create.asset.clone(),
            amount: create.amount,
            sides: create.sides,
            notes: create.notes.clone(),
            external_id: None,
            reference: self.book.ids.time_ordered_code(now),
            metadata: create.metadata.clone(),
            operation: None,
            refunds: None,
            version: 1,
            processed_at: confirmed.then_some(now),
            created_at: now,
            updated_at: now,
        }
    }

    fn advance(&mut self, advance: &Advance) -> Result<(), LedgerError> {
        let before = self.book.transactions.get(&advance.id);
        let before = before.ok_or(LedgerError::TransactionNotFound(advance.id))?;
        self.change_status(before, advance.action, advance.reason.as_deref())
    }

    /// Brings a transaction into the status that the action leads to.
    pub(super) fn change_status(
        &mut self,
        before: &Transaction,
        action: Action,
        reason: Option<&str>,
    ) -> Result<(), LedgerError> {
        let status = before.status;
        let after = status.after(action);
        let after = after.ok_or(LedgerError::InvalidState { status, action })?;
        match action {
            Action::Approve => self.ensure_unlocked(before)?,
            Action::Confirm => {
                self.ensure_unlocked(before)?;
                self.release(before)?;
                self.settle(before)?;
            }
            Action::Fail | Action::Reject => self.release(before)?,
        }
        let now = self.book.now;
        let mut tx = before.clone();
        tx.status = after;
        tx.version += 1;
        tx.updated_at = now;
        tx.processed_at = (!after.is_open()).then_some(now);
        if let Some(reason) = reason {
            let key = if action == Action::Fail {
                "failReason"
            } else {
                "rejectReason"
            };
            tx.metadata = tx.metadata.with_raw(key, reason);
        }
        self.update(tx, status);
        Ok(())
    }
}
