//! Cancellation of an order: which payments are refunded, and how much of the bonus is taken back.

use std::cmp::Reverse;

use chrono::{DateTime, Utc};
use platform::money::{Amount, DecimalPlaces, OutOfRange, Rounding};

use super::{
    Cancellation, Event, Leg, LineStatus, Order, OrderStatus, OrderWithLines, Payment,
    PaymentStatus, TransactionId, status::Status as _,
};
use crate::error::Error;

impl OrderWithLines {
    /// Computes a cancellation with this refund, by default everything that was paid.
    pub(crate) fn cancellation(
        &self,
        payments: &[Payment],
        refund: Option<Amount>,
        reason: Option<String>,
    ) -> Result<Cancellation, Error> {
        if self.order.order_status == OrderStatus::Canceled {
            return Err(Error::InvalidState("the order is already canceled"));
        }
        if self.lines.iter().any(|line| line.fulfilled_quantity > 0) {
            return Err(Error::InvalidState("the order has fulfilled units"));
        }
        let paid = self.order.paid_amount;
        let refund = refund.unwrap_or(paid);
        self.order.check_precision("refundAmount", refund)?;
        if refund > paid {
            return Err(Error::RefundExceedsPaid { refund, paid });
        }
        Ok(Cancellation {
            legs: refund_legs(payments, refund, self.order.bonus_places())?,
            bonus_revoked: self.order.bonus_share(refund)?,
            refund,
            reason,
        })
    }

    /// Applies a cancellation whose refund was posted, or that refunds nothing.
    pub(crate) fn cancel(
        &mut self,
        cancellation: &Cancellation,
        transactions: &[TransactionId],
        now: DateTime<Utc>,
    ) -> Result<Vec<Event>, Error> {
        let order = &mut self.order;
        let refund = cancellation.refund;
        order.paid_amount = order.paid_amount.sub(refund)?;
        if refund.is_positive() {
            order
                .payment_status
                .move_to(if order.paid_amount.is_zero() {
                    PaymentStatus::FullyRefunded
                } else {
                    PaymentStatus::PartiallyRefunded
                })?;
        }
        order.bonus_revoked = cancellation.bonus_revoked;
        order.cancel_reason.clone_from(&cancellation.reason);
        order.order_status.move_to(OrderStatus::Canceled)?;
        order.canceled_at = Some(now);
        order.updated_at = now;
        for line in &mut self.lines {
            line.status.move_to(LineStatus::Canceled)?;
            line.updated_at = now;
        }
        let refunded = cancellation.refunded()?;
        let mut events = vec![Event::Canceled {
            refunded: refunded.clone(),
            refund,
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
    /// Returns the share of the bonus that a refund takes back: proportional to the order's amount,
    /// rounded up so that no value is created. An order that never was fully paid has no bonus.
    fn bonus_share(&self, refund: Amount) -> Result<Amount, OutOfRange> {
        if self.paid_at.is_none() {
            return Ok(Amount::ZERO);
        }
        if refund == self.amount {
            // Includes an order of amount 0.
            return Ok(self.bonus);
        }
        let share = self
            .bonus
            .mul_div(refund, self.amount, self.bonus_places(), Rounding::Up)?;
        Ok(share.min(self.bonus))
    }
}

/// Splits a refund over the payments, the newest first; each gives at most what is left of it. A
/// part of a payment in the bonus asset is proportional and rounded down at `bonus_places`, so that
/// no value is created.
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
        let left = payment.amount.sub(payment.refunded_amount)?;
        let value = payment.order_value(left)?;
        let covered = value.min(rest);
        rest = rest.sub(covered)?;
        let amount = if covered == value {
            left
        } else {
            let places = payment.refund_places(bonus_places);
            left.mul_div(covered, value, places, Rounding::Down)?
        };
        if amount.is_positive() {
            legs.push(Leg {
                wallet_id: payment.wallet_id,
                asset_code: payment.asset_code.clone(),
                amount,
                order_amount: payment.order_amount.map(|_| covered),
                refunded_payment: Some(payment.transaction_id),
            });
        }
    }
    if rest.is_positive() {
        return Err(Error::internal(
            "the payments sum to less than the order's paid amount",
        ));
    }
    Ok(legs)
}
