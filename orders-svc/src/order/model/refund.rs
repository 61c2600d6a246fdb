//! Refunds, also those of cancellations: which payments are given back, and how much of the bonus is
//! taken back.

use std::cmp::Reverse;

use chrono::{DateTime, Utc};
use platform::{
    error::FieldCode,
    money::{Amount, DecimalPlaces, OutOfRange, Rounding},
};

use super::{
    Event, Leg, LineStatus, LineUnits, Order, OrderStatus, OrderWithLines, Payment, PaymentStatus,
    Refund, RefundedPart, TransactionId, status::Status as _,
};
use crate::error::Error;

/// The most refunds of an order that leave something of what was paid. The one that leaves nothing is
/// always possible, so that no money is stuck.
pub(crate) const MAX_REFUNDS: i64 = 100;

impl OrderWithLines {
    /// Computes a cancellation with a refund of this amount, by default everything that was paid.
    pub(crate) fn cancellation(
        &self,
        payments: &[Payment],
        amount: Option<Amount>,
        reason: Option<String>,
    ) -> Result<Refund, Error> {
        if self.order.order_status == OrderStatus::Canceled {
            return Err(Error::InvalidState("the order is already canceled"));
        }
        if self.lines.iter().any(|line| line.fulfilled_quantity > 0) {
            return Err(Error::InvalidState("the order has fulfilled units"));
        }
        let amount = amount.unwrap_or(self.order.paid_amount);
        self.order.check_precision("refundAmount", amount)?;
        self.order.refund("refundAmount", payments, amount, reason)
    }

    /// Computes a refund after `refunds` others, in any state of the order: of an amount, or of price
    /// and tax of units.
    pub(crate) fn partial_refund(
        &self,
        payments: &[Payment],
        refunds: i64,
        part: RefundedPart,
        reason: Option<String>,
    ) -> Result<Refund, Error> {
        let (field, amount, lines) = match part {
            RefundedPart::Amount(amount) => ("amount", amount, Vec::new()),
            RefundedPart::Lines(lines) => ("lines", self.total_of(&lines)?, lines),
        };
        if !amount.is_positive() {
            return Err(out_of_range(field, "must be worth more than 0"));
        }
        self.order.check_precision(field, amount)?;
        let refund = self.order.refund(field, payments, amount, reason)?;
        if refund.legs.is_empty() {
            let message = "is worth less than the smallest unit of the asset that paid";
            return Err(out_of_range(field, message));
        }
        if refunds >= MAX_REFUNDS && amount < self.order.paid_amount {
            return Err(Error::InvalidState(
                "the order takes no more refunds, except of all that is still paid",
            ));
        }
        Ok(Refund { lines, ..refund })
    }

    /// Returns price and tax of units, none of which was refunded before.
    fn total_of(&self, units: &[LineUnits]) -> Result<Amount, Error> {
        let mut totals = Vec::with_capacity(units.len());
        for (index, LineUnits { line_id, quantity }) in units.iter().enumerate() {
            let line = self.lines.iter().find(|line| line.id == *line_id);
            let line = line.ok_or_else(|| {
                let field = format!("lines[{index}].lineId");
                Error::unknown_reference(&field, "order line not found")
            })?;
            let left = line.quantity - line.refunded_quantity;
            if *quantity > left {
                let message = format!("must be at most {left}, the units that are not refunded");
                return Err(out_of_range(format!("lines[{index}].quantity"), message));
            }
            totals.push(line.total_of(*quantity)?);
        }
        Ok(Amount::sum(totals)?)
    }

    /// Applies a cancellation whose refund was posted, or that refunds nothing.
    pub(crate) fn cancel(
        &mut self,
        refund: &Refund,
        transactions: &[TransactionId],
        now: DateTime<Utc>,
    ) -> Result<Vec<Event>, Error> {
        let refunded = self.refund(refund, transactions, now)?;
        let order = &mut self.order;
        order.cancel_reason.clone_from(&refund.reason);
        order.order_status.move_to(OrderStatus::Canceled)?;
        order.canceled_at = Some(now);
        for line in &mut self.lines {
            line.status.move_to(LineStatus::Canceled)?;
            line.updated_at = now;
        }
        let mut events = vec![Event::Canceled {
            refunded: refund.refunded()?,
            refund: refund.amount,
        }];
        events.extend(refunded);
        Ok(events)
    }

    /// Applies a refund that was posted. Returns no event if nothing is refunded.
    pub(crate) fn refund(
        &mut self,
        refund: &Refund,
        transactions: &[TransactionId],
        now: DateTime<Utc>,
    ) -> Result<Option<Event>, Error> {
        let order = &mut self.order;
        order.paid_amount = order.paid_amount.sub(refund.amount)?;
        order.bonus_revoked = refund.bonus_revoked;
        order.touch(now);
        for LineUnits { line_id, quantity } in &refund.lines {
            let line = self.lines.iter_mut().find(|line| line.id == *line_id);
            let line = line.ok_or_else(|| Error::internal("a refunded line is gone"))?;
            line.refunded_quantity += quantity;
            line.updated_at = now;
        }
        if !refund.amount.is_positive() {
            return Ok(None);
        }
        let status = if order.paid_amount.is_zero() {
            PaymentStatus::FullyRefunded
        } else {
            PaymentStatus::PartiallyRefunded
        };
        order.payment_status.move_to(status)?;
        Ok(Some(Event::Refunded {
            amounts: refund.refunded()?,
            refund: refund.amount,
            transactions: transactions.to_vec(),
        }))
    }
}

impl Order {
    /// Computes the refund of an amount; `field` is the request's.
    fn refund(
        &self,
        field: &'static str,
        payments: &[Payment],
        amount: Amount,
        reason: Option<String>,
    ) -> Result<Refund, Error> {
        let paid = self.paid_amount;
        if amount > paid {
            return Err(Error::RefundExceedsPaid {
                field,
                refund: amount,
                paid,
            });
        }
        let (legs, rounded_off) = refund_legs(payments, amount, self.bonus_places())?
            .into_iter()
            .partition(|leg| leg.amount.is_positive());
        Ok(Refund {
            legs,
            rounded_off,
            amount,
            bonus_revoked: self.bonus_revoked_at(paid.sub(amount)?)?,
            lines: Vec::new(),
            reason,
        })
    }

    /// Returns how much of the bonus is taken back when a refund leaves this much paid: proportional
    /// to what is not paid, and rounded up so that no value is created. It never becomes less: what is
    /// paid again after a refund earns nothing. An order that never was fully paid has no bonus.
    fn bonus_revoked_at(&self, paid: Amount) -> Result<Amount, OutOfRange> {
        if self.paid_at.is_none() {
            return Ok(self.bonus_revoked);
        }
        if paid.is_zero() {
            // Includes an order of amount 0.
            return Ok(self.bonus);
        }
        let unpaid = self.amount.sub(paid)?;
        let share = self
            .bonus
            .mul_div(unpaid, self.amount, self.bonus_places(), Rounding::Up)?;
        Ok(share.clamp(self.bonus_revoked, self.bonus))
    }
}

/// Splits a refund over the payments, the newest first; each gives at most what is left of it. A
/// part of a payment in another asset is proportional and rounded down at `bonus_places`, so that no
/// value is created; the last part is all that is left.
fn refund_legs(
    payments: &[Payment],
    refund: Amount,
    bonus_places: DecimalPlaces,
) -> Result<Vec<Leg>, Error> {
    let mut newest_first: Vec<_> = payments.iter().collect();
    newest_first.sort_by_key(|payment| Reverse((payment.claim, payment.leg)));
    let mut rest = refund;
    let mut legs = Vec::new();
    for payment in newest_first {
        let value = payment.value_left()?;
        let covered = value.min(rest);
        if !covered.is_positive() {
            continue;
        }
        rest = rest.sub(covered)?;
        let left = payment.amount.sub(payment.refunded_amount)?;
        let amount = if covered == value {
            left
        } else {
            let places = payment.refund_places(bonus_places);
            left.mul_div(covered, value, places, Rounding::Down)?
        };
        legs.push(Leg {
            wallet_id: payment.wallet_id,
            asset_code: payment.asset_code.clone(),
            amount,
            order_amount: payment.order_amount.map(|_| covered),
            refunded_payment: Some(payment.transaction_id),
            is_bonus: payment.is_bonus,
        });
    }
    if rest.is_positive() {
        return Err(Error::internal(
            "the payments sum to less than the order's paid amount",
        ));
    }
    Ok(legs)
}

fn out_of_range(field: impl Into<String>, message: impl Into<String>) -> Error {
    Error::Field {
        field: field.into(),
        code: FieldCode::Range,
        message: message.into(),
    }
}
