//! The model of an order, in cents. It knows the contract, and nothing of the code.

use anyhow::Context as _;
use serde_json::Value;

use super::step::{Amount, Request, Units};
use crate::client::text;

const INVALID_STATE: &str = "invalid_state";

#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) id: String,
    pub(super) quantity: i64,
    pub(super) fulfilled: i64,
    refunded: i64,
    /// Net.
    pub(super) price: i64,
    pub(super) tax: i64,
    pub(super) bonus: i64,
}

#[derive(Debug, Clone)]
pub(super) struct Order {
    /// `/orders/:id`
    pub(super) path: String,
    /// Index among the buyers.
    pub(super) buyer: usize,
    pub(super) lines: Vec<Line>,
    /// Net of refunds.
    pub(super) paid: i64,
    canceled: bool,
    /// Whether the last movement of money was a refund.
    refunded: bool,
    was_fully_paid: bool,
    /// The part of the bonus that refunds took back. What is paid again earns none.
    revoked: i64,
}

impl Line {
    /// Makes a line as it is bought.
    pub(super) const fn new(quantity: i64, price: i64, tax: i64, bonus: i64) -> Self {
        Self {
            id: String::new(),
            quantity,
            fulfilled: 0,
            refunded: 0,
            price,
            tax,
            bonus,
        }
    }
}

impl Order {
    pub(super) const fn new(buyer: usize, lines: Vec<Line>) -> Self {
        Self {
            path: String::new(),
            buyer,
            lines,
            paid: 0,
            canceled: false,
            refunded: false,
            was_fully_paid: false,
            revoked: 0,
        }
    }

    /// Takes over the ids that the service made.
    pub(super) fn take_ids(&mut self, created: &Value) -> anyhow::Result<()> {
        self.path = format!("/orders/{}", text(created, "id")?);
        let lines = created["lines"].as_array().context("lines")?;
        for (line, created) in self.lines.iter_mut().zip(lines) {
            line.id = text(created, "id")?;
        }
        Ok(())
    }

    pub(super) fn amount(&self) -> i64 {
        self.sum(|line| line.price + line.tax)
    }

    pub(super) fn taxes(&self) -> i64 {
        self.sum(|line| line.tax)
    }

    pub(super) fn bonus(&self) -> i64 {
        self.sum(|line| line.bonus)
    }

    fn sum(&self, of: impl Fn(&Line) -> i64) -> i64 {
        self.lines.iter().map(|line| of(line) * line.quantity).sum()
    }

    /// Returns what the buyer has of the bonus.
    pub(super) fn net_bonus(&self) -> i64 {
        if self.was_fully_paid {
            self.bonus() - self.revoked
        } else {
            0
        }
    }

    pub(super) fn status(&self) -> &'static str {
        if self.canceled {
            "canceled"
        } else if self
            .lines
            .iter()
            .all(|line| line.fulfilled == line.quantity)
        {
            "fulfilled"
        } else {
            "unfulfilled"
        }
    }

    pub(super) fn payment_status(&self) -> &'static str {
        match (self.refunded, self.paid) {
            (true, 0) => "fully_refunded",
            (true, _) => "partially_refunded",
            (false, paid) if paid == self.amount() => "fully_paid",
            (false, 0) => "unpaid",
            (false, _) => "paid",
        }
    }

    pub(super) fn line_status(&self, line: &Line) -> &'static str {
        match line.fulfilled {
            _ if self.canceled => "canceled",
            0 => "unfulfilled",
            fulfilled if fulfilled == line.quantity => "fulfilled",
            _ => "partially_fulfilled",
        }
    }

    /// Carries out a request, or returns the code of its refusal and may have changed.
    pub(super) fn act(
        &mut self,
        request: &Request,
        usd_enabled: bool,
        is_poor: bool,
    ) -> Result<(), &'static str> {
        match request {
            Request::Pay(amount) => self.pay(*amount, usd_enabled, is_poor),
            Request::Cancel(refund) => self.cancel(*refund),
            Request::Refund(amount) => self.refund(*amount),
            Request::RefundUnits(index, quantity) => self.refund_units(*index, *quantity),
            Request::Move { fulfill, units } => self.move_units(*fulfill, *units),
        }
    }

    fn pay(
        &mut self,
        amount: Amount,
        usd_enabled: bool,
        is_poor: bool,
    ) -> Result<(), &'static str> {
        let unpaid = self.amount() - self.paid;
        if self.canceled || unpaid == 0 {
            return Err(INVALID_STATE);
        }
        let cents = amount.cents(unpaid)?;
        if cents > unpaid {
            return Err("payment_exceeds_unpaid");
        }
        self.charge(cents, usd_enabled, is_poor)
    }

    /// Takes money, which the ledger may refuse.
    pub(super) fn charge(
        &mut self,
        cents: i64,
        usd_enabled: bool,
        is_poor: bool,
    ) -> Result<(), &'static str> {
        if !usd_enabled {
            return Err("asset_disabled");
        }
        if is_poor {
            return Err("insufficient_funds");
        }
        self.paid += cents;
        self.refunded = false;
        self.was_fully_paid |= self.paid == self.amount();
        Ok(())
    }

    fn cancel(&mut self, refund: Amount) -> Result<(), &'static str> {
        if self.canceled || self.lines.iter().any(|line| line.fulfilled > 0) {
            return Err(INVALID_STATE);
        }
        let cents = refund.cents(self.paid)?;
        if cents > self.paid {
            return Err("refund_exceeds_paid");
        }
        self.canceled = true;
        self.give_back(cents);
        Ok(())
    }

    fn refund(&mut self, amount: Amount) -> Result<(), &'static str> {
        let cents = amount.cents(self.paid)?;
        if cents > self.paid {
            return Err("refund_exceeds_paid");
        }
        self.give_back(cents);
        Ok(())
    }

    fn refund_units(&mut self, index: usize, quantity: i64) -> Result<(), &'static str> {
        let line = &mut self.lines[index];
        if quantity > line.quantity - line.refunded {
            return Err("validation_failed");
        }
        line.refunded += quantity;
        let cents = (line.price + line.tax) * quantity;
        self.refund(Amount::Cents(cents))
    }

    /// Gives money back, and takes the share of the bonus, rounded up.
    fn give_back(&mut self, cents: i64) {
        self.paid -= cents;
        self.refunded |= cents > 0;
        if self.was_fully_paid {
            let (amount, unpaid) = (self.amount(), self.amount() - self.paid);
            let share = (self.bonus() * unpaid + amount - 1) / amount;
            self.revoked = self.revoked.max(share);
        }
    }

    fn move_units(&mut self, fulfill: bool, units: Units) -> Result<(), &'static str> {
        if self.canceled {
            return Err(INVALID_STATE);
        }
        for (index, line) in self.lines.iter_mut().enumerate() {
            let remaining = if fulfill {
                line.quantity - line.fulfilled
            } else {
                line.fulfilled
            };
            let moved = match units {
                Units::All => remaining,
                Units::Line(chosen, quantity) if chosen == index => quantity.unwrap_or(remaining),
                Units::Line(..) => continue,
            };
            if moved > remaining {
                return Err("validation_failed");
            }
            line.fulfilled += if fulfill { moved } else { -moved };
        }
        Ok(())
    }
}
