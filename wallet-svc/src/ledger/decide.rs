//! Decides one command on the book.

use super::{Advance, Book, Command, Create, Refusal, draft::Draft};
use crate::transaction::model::{Action, Status, Transaction, TransactionId};

/// Characters of a transaction's reference.
const REFERENCE_LENGTH: usize = 12;

impl Book {
    /// Decides a command: its effects are in the book afterwards, or it is refused and the book is
    /// as before. Answers the transactions it made or changed, or those that an earlier command of
    /// the same operation or transaction id made; a reward answers itself, without the debts that it
    /// settled.
    pub fn decide(&mut self, command: &Command) -> Result<Vec<Transaction>, Refusal> {
        if let Some(done) = self.done_before(command) {
            return done;
        }
        let mut draft = Draft::over(self);
        match command {
            Command::Create(create) => draft.open(create)?,
            Command::Advance(advance) => draft.advance(advance)?,
            Command::Post(operation) => draft.post(operation)?,
            Command::Conclude(conclusion) => draft.conclude(conclusion)?,
            Command::Refund(refund) => draft.refund(refund)?,
            Command::Exchange(exchange) => draft.exchange(exchange)?,
            Command::Bonus(change) => draft.adjust_bonus(change)?,
            Command::Reward(reward) => draft.reward(reward)?,
        }
        let mut answer = draft.finish().enter_into(self);
        if let Command::Reward(reward) = command {
            answer.retain(|tx| tx.id == reward.id);
        }
        Ok(answer)
    }

    fn done_before(&self, command: &Command) -> Option<Result<Vec<Transaction>, Refusal>> {
        let find = |id: &TransactionId| self.transactions.get(id).cloned();
        if let Command::Reward(reward) = command {
            return find(&reward.id).map(|tx| Ok(vec![tx]));
        }
        let ids = self.operations.get(command.new_operation()?)?;
        let made: Vec<_> = ids.iter().filter_map(find).collect();
        Some(command.ensure_made(&made).map(|()| made))
    }
}

impl Draft<'_> {
    fn open(&mut self, create: &Create) -> Result<(), Refusal> {
        let tx = self.transaction(create);
        self.ensure_owned(create, &tx)?;
        self.admit(&tx, false)?;
        self.begin(tx)
    }

    /// Sets the money of a new transaction aside, or moves it where it is confirmed from the start.
    pub(super) fn begin(&mut self, tx: Transaction) -> Result<(), Refusal> {
        if tx.status == Status::Confirmed {
            self.settle(&tx)?;
        } else {
            self.set_aside(&tx)?;
        }
        self.create(tx)
    }

    pub(super) fn transaction(&self, create: &Create) -> Transaction {
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
            reference: self.book.ids.code(REFERENCE_LENGTH),
            metadata: create.metadata.clone(),
            operation: None,
            refunds: None,
            // One event says that it was created, and a second that it is confirmed.
            version: if confirmed { 2 } else { 1 },
            processed_at: confirmed.then_some(now),
            created_at: now,
            updated_at: now,
        }
    }

    fn advance(&mut self, advance: &Advance) -> Result<(), Refusal> {
        let known = self.book.transactions.get(&advance.id);
        let before = known.ok_or(Refusal::UnknownTransaction(advance.id))?;
        self.step(before, advance.action, advance.reason.as_deref())
    }

    /// Brings a transaction into the state that the action leads to.
    pub(super) fn step(
        &mut self,
        before: &Transaction,
        action: Action,
        reason: Option<&str>,
    ) -> Result<(), Refusal> {
        let status = before.status;
        let after = status.after(action);
        let after = after.ok_or(Refusal::InvalidState { status, action })?;
        match action {
            Action::Approve => self.ensure_unlocked(before)?,
            Action::Confirm => {
                self.ensure_unlocked(before)?;
                self.give_up(before)?;
                self.settle(before)?;
            }
            Action::Fail | Action::Reject => self.give_up(before)?,
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
