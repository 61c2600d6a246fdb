//! The model of an order, in cents. It knows the contract, and nothing of the code.

use anyhow::Context as _;
use serde_json::Value;

use super::{
    account::Account,
    payment::{self, Money, Payment},
    step::{Amount, Request, Units},
};
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
    /// In points.
    pub(super) bonus: i64,
}

#[derive(Debug, Clone)]
pub(super) struct Order {
    /// `/orders/:id`
    pub(super) path: String,
    /// Index among the buyers.
    pub(super) buyer: usize,
    pub(super) lines: Vec<Line>,
    /// The oldest first.
    payments: Vec<Payment>,
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
            payments: Vec::new(),
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

    /// Returns what is paid, net of refunds.
    pub(super) fn paid(&self) -> i64 {
        self.payments.iter().map(Payment::value).sum()
    }

    /// Returns what is paid of each asset, net of refunds.
    pub(super) fn paid_by_asset(&self) -> Money {
        let mut sum = Money::default();
        for money in self.payments.iter().map(Payment::money) {
            sum.usd += money.usd;
            sum.points += money.points;
        }
        sum
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
        match (self.refunded, self.paid()) {
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
        account: &mut Account,
        usd_enabled: bool,
    ) -> Result<(), &'static str> {
        match request {
            Request::Pay(amount) => self.pay(*amount, account, usd_enabled),
            Request::Cancel(refund) => self.cancel(*refund, account),
            Request::Refund(amount) => self.refund(*amount, account),
            Request::RefundUnits(index, quantity) => self.refund_units(*index, *quantity, account),
            Request::Move { fulfill, units } => self.move_units(*fulfill, *units),
        }
    }

    fn pay(
        &mut self,
        amount: Amount,
        account: &mut Account,
        usd_enabled: bool,
    ) -> Result<(), &'static str> {
        let unpaid = self.amount() - self.paid();
        if self.canceled || unpaid == 0 {
            return Err(INVALID_STATE);
        }
        let cents = amount.cents(unpaid)?;
        if cents > unpaid {
            return Err("payment_exceeds_unpaid");
        }
        self.charge(&[Payment::Usd(cents)], account, usd_enabled)
    }

    /// Takes payments, which the ledger accepts or refuses together.
    pub(super) fn charge(
        &mut self,
        payments: &[Payment],
        account: &mut Account,
        usd_enabled: bool,
    ) -> Result<(), &'static str> {
        for payment in payments.iter().filter(|payment| payment.value() > 0) {
            match *payment {
                Payment::Usd(_) if !usd_enabled => return Err("asset_disabled"),
                Payment::Usd(usd) if usd > account.usd => return Err("insufficient_funds"),
                Payment::Usd(usd) => account.usd -= usd,
                Payment::Points { points, .. } => account.points -= points,
            }
            self.payments.push(*payment);
            self.refunded = false;
        }
        if !self.was_fully_paid && self.paid() == self.amount() {
            self.was_fully_paid = true;
            account.grant(self.bonus());
        }
        Ok(())
    }

    fn cancel(&mut self, refund: Amount, account: &mut Account) -> Result<(), &'static str> {
        if self.canceled || self.lines.iter().any(|line| line.fulfilled > 0) {
            return Err(INVALID_STATE);
        }
        self.canceled = true;
        self.give_back(refund, account)?;
        Ok(())
    }

    fn refund(&mut self, amount: Amount, account: &mut Account) -> Result<(), &'static str> {
        let refund = self.give_back(amount, account)?;
        // Less than a hundredth of a point.
        if refund == Money::default() {
            return Err("validation_failed");
        }
        Ok(())
    }

    fn refund_units(
        &mut self,
        index: usize,
        quantity: i64,
        account: &mut Account,
    ) -> Result<(), &'static str> {
        let line = &mut self.lines[index];
        if quantity > line.quantity - line.refunded {
            return Err("validation_failed");
        }
        line.refunded += quantity;
        let cents = (line.price + line.tax) * quantity;
        self.refund(Amount::Cents(cents), account)
    }

    /// Gives back what was paid, and takes the share of the bonus, rounded up.
    fn give_back(&mut self, refund: Amount, account: &mut Account) -> Result<Money, &'static str> {
        let paid = self.paid();
        let cents = refund.cents(paid)?;
        if cents > paid {
            return Err("refund_exceeds_paid");
        }
        let refund = payment::give_back(&mut self.payments, cents);
        account.usd += refund.usd;
        account.points += refund.points;
        self.refunded |= cents > 0;
        if self.was_fully_paid {
            let (amount, unpaid) = (self.amount(), self.amount() - self.paid());
            let share = (self.bonus() * unpaid + amount - 1) / amount;
            let more = (share - self.revoked).max(0);
            self.revoked += more;
            account.revoke(more);
        }
        Ok(refund)
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
