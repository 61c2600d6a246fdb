//! Canceling an order: which payments the refund comes from, and what becomes of the bonus.

use chrono::{DateTime, Utc};
use platform::money::{Amount, DecimalPlaces, OutOfRange, Rounding};

use super::{
    claim::Cancellation,
    claim::Leg,
    model::{Event, LineStatus, Order, OrderStatus, OrderWithLines, PaymentStatus, TransactionId},
    payment::Payment,
};
use crate::error::Error;

impl OrderWithLines {
    /// What canceling would give back: by default all that was paid.
    pub fn cancellation(
        &self,
        payments: &[Payment],
        refund: Option<Amount>,
        reason: Option<String>,
    ) -> Result<Cancellation, Error> {
        if self.order.order_status == OrderStatus::Canceled {
            return Err(Error::InvalidState("the order is canceled already"));
        }
        if self.lines.iter().any(|line| line.fulfilled_quantity > 0) {
            return Err(Error::InvalidState("units of the order are fulfilled"));
        }
        let paid = self.order.paid_amount;
        let refund = refund.unwrap_or(paid);
        self.order.check_precision("refundAmount", refund)?;
        if refund > paid {
            return Err(Error::RefundExceedsPaid { refund, paid });
        }
        Ok(Cancellation {
            legs: split(payments, refund, self.order.bonus_places())?,
            bonus_revoked: self.order.bonus_share(refund)?,
            refund,
            reason,
        })
    }

    /// The refund was posted, or there was none: the order is canceled.
    pub fn cancel(
        &mut self,
        cancellation: &Cancellation,
        transactions: &[TransactionId],
        now: DateTime<Utc>,
    ) -> Result<Vec<Event>, Error> {
        let order = &mut self.order;
        let refund = cancellation.refund;
        order.paid_amount = order.paid_amount.sub(refund)?;
        if refund.is_positive() {
            order.payment_status = if order.paid_amount.is_zero() {
                PaymentStatus::FullyRefunded
            } else {
                PaymentStatus::PartiallyRefunded
            };
        }
        order.bonus_revoked = cancellation.bonus_revoked;
        order.cancel_reason.clone_from(&cancellation.reason);
        order.order_status = OrderStatus::Canceled;
        order.canceled_at = Some(now);
        order.updated_at = now;
        for line in &mut self.lines {
            line.status = LineStatus::Canceled;
            line.updated_at = now;
        }
        let refunded = cancellation.refunded()?;
        let mut events = vec![Event::Canceled {
            refunded: refunded.clone(),
        }];
        if refund.is_positive() {
            events.push(Event::Refunded {
                amounts: refunded,
                transactions: transactions.to_vec(),
            });
        }
        Ok(events)
    }
}

impl Order {
    /// The share of the bonus that a refund of this much takes back: in proportion to the order's
    /// amount, rounded so that no value is made. An order that never was fully paid granted none.
    fn bonus_share(&self, refund: Amount) -> Result<Amount, OutOfRange> {
        if self.paid_at.is_none() {
            return Ok(Amount::ZERO);
        }
        if refund == self.amount {
            // Also where nothing had to be paid.
            return Ok(self.bonus);
        }
        let share = self
            .bonus
            .mul_div(refund, self.amount, self.bonus_places(), Rounding::Up)?;
        Ok(share.min(self.bonus))
    }
}

/// Takes the refund from the payments, the newest first: each gives at most what is left of it. A
/// part of a payment in the bonus asset goes back in proportion, rounded down at these decimals, so
/// that no value is made.
fn split(
    payments: &[Payment],
    refund: Amount,
    bonus_places: DecimalPlaces,
) -> Result<Vec<Leg>, Error> {
    let mut newest_first: Vec<_> = payments.iter().collect();
    newest_first.sort_by_key(|payment| std::cmp::Reverse((payment.claim, payment.leg)));
    let mut rest = refund;
    let mut legs = Vec::new();
    for payment in newest_first {
        let left = payment.amount.sub(payment.refunded_amount)?;
        let worth = payment.worth(left)?;
        let covered = worth.min(rest);
        rest = rest.sub(covered)?;
        let amount = if covered == worth {
            left
        } else {
            left.mul_div(covered, worth, payment.places(bonus_places), Rounding::Down)?
        };
        if amount.is_positive() {
            legs.push(Leg {
                wallet_id: payment.wallet_id,
                asset_code: payment.asset_code.clone(),
                amount,
                covers: payment.covers.map(|_| covered),
                refunds: Some(payment.transaction_id),
            });
        }
    }
    if rest.is_positive() {
        return Err(Error::fault(
            "the payments hold less than the order was paid",
        ));
    }
    Ok(legs)
}
