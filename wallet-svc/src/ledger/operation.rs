//! Operations: transfers that are posted, held, captured, released and given back together.

use platform::money::Amount;

use super::{Command, Conclusion, Create, Leg, Mode, Operation, Refund, Refusal, draft::Draft};
use crate::transaction::model::{Notes, Sides, Status, Transaction, TransactionType};

impl Command {
    /// Whether these transactions are what this command makes: an operation id names one operation
    /// for ever.
    pub(super) fn ensure_made(&self, made: &[Transaction]) -> Result<(), Refusal> {
        let is_same = match self {
            Self::Post(operation) => operation.is(made),
            // What an earlier refund came to depends on what was left then.
            Self::Refund(_) => made.iter().all(|tx| tx.refunds.is_some()),
            _ => true,
        };
        if is_same {
            return Ok(());
        }
        Err(Refusal::OperationReused)
    }
}

impl Operation {
    fn is(&self, made: &[Transaction]) -> bool {
        let is_leg = |(leg, tx): (&Leg, &Transaction)| {
            (&leg.asset, leg.amount, leg.sides, &leg.code)
                == (&tx.asset, tx.amount, tx.sides, &tx.code)
        };
        self.legs.len() == made.len() && self.legs.iter().zip(made).all(is_leg)
    }
}

impl Draft<'_> {
    pub(super) fn post(&mut self, operation: &Operation) -> Result<(), Refusal> {
        for (index, leg) in (0..).zip(&operation.legs) {
            let mut tx = self.transaction(&leg.create(operation.mode));
            tx.operation = Some((operation.id.clone(), index));
            self.admit(&tx, leg.returns_money)?;
            self.begin(tx)?;
        }
        Ok(())
    }

    /// Captures or releases; what has come to that end already stays as it is.
    pub(super) fn conclude(&mut self, conclusion: &Conclusion) -> Result<(), Refusal> {
        let Conclusion { operation, action } = conclusion;
        let end = Status::Processing.after(*action);
        for tx in self.operation(operation)? {
            if Some(tx.status) == end {
                self.answer(tx);
            } else {
                self.step(tx, *action, None)?;
            }
        }
        Ok(())
    }

    pub(super) fn refund(&mut self, refund: &Refund) -> Result<(), Refusal> {
        let posted = self.operation(&refund.of)?;
        let mut parts = refund.parts.clone();
        if parts.is_empty() {
            for (index, tx) in (0..).zip(&posted) {
                let left = tx.amount.sub(self.refunded(tx.id))?;
                if left.is_positive() {
                    parts.push((index, left));
                }
            }
        }
        if parts.is_empty() {
            return Err(Refusal::RefundExceeds(Amount::ZERO));
        }
        for (index, (place, amount)) in (0..).zip(parts) {
            let original = usize::try_from(place)
                .ok()
                .and_then(|place| posted.get(place));
            let original = original.ok_or(Refusal::UnknownPart(place))?;
            self.give_back(refund, index, original, amount)?;
        }
        Ok(())
    }

    fn give_back(
        &mut self,
        refund: &Refund,
        index: i32,
        original: &Transaction,
        amount: Amount,
    ) -> Result<(), Refusal> {
        if original.status != Status::Confirmed {
            return Err(Refusal::NotCaptured(original.status));
        }
        let left = original.amount.sub(self.refunded(original.id))?;
        if amount > left {
            return Err(Refusal::RefundExceeds(left));
        }
        let Sides { debit, credit } = original.sides;
        let mut tx = self.transaction(&Create {
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
        self.admit(&tx, true)?;
        self.begin(tx)
    }
}

impl Leg {
    fn create(&self, mode: Mode) -> Create {
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
            status: mode.status(),
            notes,
            metadata: self.metadata.clone(),
            owner: None,
        }
    }
}
