//! Decides one command on the book.

use super::{Advance, Book, Command, Create, Leg, Operation, Refusal, Side, draft::Draft};
use crate::transaction::model::{
    Action, Notes, Status, Transaction, TransactionId, TransactionType,
};

/// Characters of a transaction's reference.
const REFERENCE_LENGTH: usize = 12;

impl Book {
    /// Decides a command: its effects are in the book afterwards, or it is refused and the book is
    /// as before. Answers the transactions it made or changed, or those that an earlier command of
    /// the same operation or transaction id made; a reward answers itself, without the debts that it
    /// settled.
    pub fn decide(&mut self, command: &Command) -> Result<Vec<Transaction>, Refusal> {
        if let Some(done) = self.done_before(command) {
            return Ok(done);
        }
        let mut draft = Draft::over(self);
        match command {
            Command::Create(create) => draft.open(create)?,
            Command::Advance(advance) => draft.advance(advance)?,
            Command::Post(operation) => draft.post(operation)?,
            Command::Bonus(change) => draft.adjust_bonus(change)?,
            Command::Reward(reward) => draft.reward(reward)?,
        }
        let mut answer = draft.finish().enter_into(self);
        if let Command::Reward(reward) = command {
            answer.retain(|tx| tx.id == reward.id);
        }
        Ok(answer)
    }

    fn done_before(&self, command: &Command) -> Option<Vec<Transaction>> {
        let find = |id: &TransactionId| self.transactions.get(id).cloned();
        match command {
            Command::Post(operation) => {
                let ids = self.operations.get(&operation.id)?;
                Some(ids.iter().filter_map(find).collect())
            }
            Command::Reward(reward) => find(&reward.id).map(|tx| vec![tx]),
            _ => None,
        }
    }
}

impl Draft<'_> {
    fn open(&mut self, create: &Create) -> Result<(), Refusal> {
        let tx = self.transaction(create);
        if let (Some(owner), Some(origin)) = (create.owner, tx.origin()) {
            let party = self.party(origin, Side::Origin)?;
            if party.owner != Some(owner) {
                return Err(Refusal::UnknownWallet(Side::Origin));
            }
        }
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
        self.create(tx);
        Ok(())
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
            // One event says that it was created, and a second that it is confirmed.
            version: if confirmed { 2 } else { 1 },
            processed_at: confirmed.then_some(now),
            created_at: now,
            updated_at: now,
        }
    }

    fn advance(&mut self, advance: &Advance) -> Result<(), Refusal> {
        let book = self.book;
        let known = book.transactions.get(&advance.id);
        let before = known.ok_or(Refusal::UnknownTransaction(advance.id))?;
        let (status, action) = (before.status, advance.action);
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
        if let Some(reason) = &advance.reason {
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

    fn post(&mut self, operation: &Operation) -> Result<(), Refusal> {
        for (index, leg) in (0..).zip(&operation.legs) {
            let mut tx = self.transaction(&leg.create());
            tx.operation = Some((operation.id.clone(), index));
            self.admit(&tx, leg.returns_money)?;
            self.begin(tx)?;
        }
        Ok(())
    }
}

impl Leg {
    fn create(&self) -> Create {
        let notes = Notes {
            description: self.description.clone(),
            ..Notes::default()
        };
        Create {
            id: self.id,
            kind: TransactionType::Transfer,
            code: self.code.clone(),
            asset: self.asset.clone(),
            amount: self.amount,
            sides: self.sides,
            status: Status::Confirmed,
            notes,
            metadata: self.metadata.clone(),
            owner: None,
        }
    }
}
