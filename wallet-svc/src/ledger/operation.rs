//! Operations: transfers that are posted, held, captured, released and refunded together.

use chrono::{DateTime, TimeDelta, Utc};
use platform::money::Amount;

use super::{
    Book, Command, Create, EndHold, LedgerError, Leg, Mode, Operation, Refund, RefundPart,
    transition::Transition,
};
use crate::transaction::model::{
    Notes, Sides, Status, Transaction, TransactionId, TransactionType,
};

/// How far the database's clock may go back, as by a correction or at a failover to another machine.
/// An operation that has expired stays so if it goes back by less.
const CLOCK_TOLERANCE: TimeDelta = TimeDelta::seconds(5);

impl Command {
    /// Checks that the command is the one that made these transactions: an operation id is never
    /// used for another operation.
    pub(super) fn ensure_same(&self, made: &[Transaction], book: &Book) -> Result<(), LedgerError> {
        let is_same = match self {
            Self::Post(operation) => operation.matches(made),
            Self::Refund(refund) => {
                let of = book.operations.get(&refund.of);
                of.is_some_and(|of| refund.matches(of, made))
            }
            _ => true,
        };
        if is_same {
            return Ok(());
        }
        Err(LedgerError::OperationReused)
    }
}

impl Operation {
    fn matches(&self, made: &[Transaction]) -> bool {
        let is_leg = |(leg, tx): (&Leg, &Transaction)| {
            (&leg.asset, leg.amount, leg.sides, &leg.code)
                == (&tx.asset, tx.amount, tx.sides, &tx.code)
        };
        // Money that is held has not moved.
        let has_moved = made.iter().all(|tx| tx.status != Status::Processing);
        (self.mode == Mode::Hold || has_moved)
            && self.legs.len() == made.len()
            && self.legs.iter().zip(made).all(is_leg)
    }

    /// Checks that the operation may still be accepted.
    fn check_time(&self, clock: DateTime<Utc>) -> Result<(), LedgerError> {
        let late = self.not_after.map(|not_after| clock - not_after);
        match late {
            Some(late) if late > CLOCK_TOLERANCE => Err(LedgerError::OperationExpired),
            Some(late) if late > TimeDelta::zero() => Err(LedgerError::OperationLate),
            _ => Ok(()),
        }
    }
}

impl Refund {
    /// Whether these transactions refund this operation, and the same parts. The amounts of a refund
    /// of the whole rest depend on what was left then.
    fn matches(&self, of: &[TransactionId], made: &[Transaction]) -> bool {
        let is_of = |tx: &Transaction| tx.refunds.is_some_and(|id| of.contains(&id));
        let is_part = |(part, tx): (&RefundPart, &Transaction)| {
            let index = usize::try_from(part.index).ok();
            let original = index.and_then(|index| of.get(index)).copied();
            part.amount == tx.amount && original == tx.refunds
        };
        let has_parts = self.parts.len() == made.len() && self.parts.iter().zip(made).all(is_part);
        made.iter().all(is_of) && (self.parts.is_empty() || has_parts)
    }
}

impl Transition<'_> {
    pub(super) fn post(&mut self, operation: &Operation) -> Result<(), LedgerError> {
        operation.check_time(self.book.clock)?;
        for (index, leg) in (0..).zip(&operation.legs) {
            let mut tx = self.new_transaction(&leg.create(operation.mode));
            tx.operation = Some((operation.id.clone(), index));
            self.validate(&tx, leg.returns_money)?;
            self.begin(tx)?;
        }
        Ok(())
    }

    /// Captures or releases a hold; transfers that ended that way before stay as they are.
    pub(super) fn end_hold(&mut self, end: &EndHold) -> Result<(), LedgerError> {
        let status = Status::Processing.after(end.action);
        for tx in self.operation(&end.operation)? {
            if Some(tx.status) == status {
                self.leave_unchanged(tx);
            } else {
                self.change_status(tx, end.action, None)?;
            }
        }
        Ok(())
    }

    pub(super) fn refund(&mut self, refund: &Refund) -> Result<(), LedgerError> {
        let posted = self.operation(&refund.of)?;
        let mut parts = refund.parts.clone();
        if parts.is_empty() {
            for (index, tx) in (0..).zip(&posted) {
                let left = tx.amount.sub(self.refunded(tx.id))?;
                if left.is_positive() {
                    let amount = left;
                    parts.push(RefundPart { index, amount });
                }
            }
        }
        if parts.is_empty() {
            return Err(LedgerError::RefundExceeds(Amount::ZERO));
        }
        for (index, part) in (0..).zip(parts) {
            let original = usize::try_from(part.index).ok();
            let original = original.and_then(|index| posted.get(index));
            let original = original.ok_or(LedgerError::PartNotFound(part.index))?;
            self.refund_part(refund, index, original, part.amount)?;
        }
        Ok(())
    }

    fn refund_part(
        &mut self,
        refund: &Refund,
        index: i32,
        original: &Transaction,
        amount: Amount,
    ) -> Result<(), LedgerError> {
        if original.status != Status::Confirmed {
            return Err(LedgerError::NotCaptured(original.status));
        }
        let left = original.amount.sub(self.refunded(original.id))?;
        if amount > left {
            return Err(LedgerError::RefundExceeds(left));
        }
        let Sides { debit, credit } = original.sides;
        let mut tx = self.new_transaction(&Create {
            id: self.book.ids.next(),
            kind: TransactionType::Transfer,
            code: "refund".to_owned(),
            asset: original.asset.clone(),
            amount,
            sides: Sides {
                debit: credit,
                credit: debit,
            },
            status: Status::Confirmed,
            notes: Notes {
                description: refund.description.clone(),
                ..Notes::default()
            },
            metadata: refund.metadata.clone(),
            owner: None,
        });
        tx.operation = Some((refund.id.clone(), index));
        tx.refunds = Some(original.id);
        self.validate(&tx, true)?;
        self.begin(tx)
    }
}

impl Leg {
    fn create(&self, mode: Mode) -> Create {
        Create {
            id: self.id,
            kind: TransactionType::Transfer,
            code: self.code.clone(),
            asset: self.asset.clone(),
            amount: self.amount,
            sides: self.sides,
            status: mode.status(),
            notes: Notes {
                description: self.description.clone(),
                ..Notes::default()
            },
            metadata: self.metadata.clone(),
            owner: None,
        }
    }
}
