//! Payments of an order: how much may be charged, and how a charge changes the order.

use chrono::{DateTime, Utc};
use platform::{
    error::FieldCode,
    money::{Amount, DecimalPlaces, OutOfRange},
};

use super::{
    Event, Leg, Order, OrderStatus, PaymentStatus, TransactionId, WalletId, status::Status as _,
};
use crate::error::Error;

/// The most payments of an order: a refund has a posting for each, and the ledger takes at most
/// 1,000 in an operation.
pub(crate) const MAX_PAYMENTS: usize = 100;

/// A payment that was taken, one per transaction of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Payment {
    pub(crate) transaction_id: TransactionId,
    /// Sequence of the claim that took it.
    pub(crate) claim: i32,
    /// Index among the claim's legs.
    pub(crate) leg: i32,
    /// The payer.
    pub(crate) wallet_id: WalletId,
    pub(crate) asset_code: String,
    pub(crate) amount: Amount,
    /// Value in the order's asset, if `asset_code` is another.
    pub(crate) order_amount: Option<Amount>,
    pub(crate) is_bonus: bool,
    pub(crate) refunded_amount: Amount,
    /// Value of the refunds in the order's asset.
    pub(crate) refunded_value: Amount,
}

impl Payment {
    /// Returns the value in the order's asset that was not refunded.
    pub(super) fn value_left(&self) -> Result<Amount, OutOfRange> {
        let value = self.order_amount.unwrap_or(self.amount);
        value.sub(self.refunded_value)
    }

    /// Returns the decimal places of a partial refund: no rounding in the order's asset, where
    /// nothing is converted.
    pub(super) const fn refund_places(&self, bonus_places: DecimalPlaces) -> DecimalPlaces {
        if self.order_amount.is_some() {
            bonus_places
        } else {
            DecimalPlaces::MAX
        }
    }
}

impl Order {
    /// Checks a payment after `payments` others and returns its amount: by default everything that
    /// is unpaid.
    pub(crate) fn check_payment(
        &self,
        payments: &[Payment],
        amount: Option<Amount>,
    ) -> Result<Amount, Error> {
        if self.order_status == OrderStatus::Canceled {
            return Err(Error::InvalidState("the order is canceled"));
        }
        let unpaid = self.unpaid_amount();
        if unpaid.is_zero() {
            return Err(Error::InvalidState("the order is fully paid"));
        }
        if payments.len() >= MAX_PAYMENTS {
            return Err(Error::InvalidState("the order takes no more payments"));
        }
        let amount = amount.unwrap_or(unpaid);
        if !amount.is_positive() {
            return Err(Error::Field {
                field: "amount".into(),
                code: FieldCode::Range,
                message: "must be more than 0".into(),
            });
        }
        self.check_precision("amount", amount)?;
        if amount > unpaid {
            return Err(Error::PaymentExceedsUnpaid { amount, unpaid });
        }
        Ok(amount)
    }

    /// Checks that an amount has no more decimal places than the order's asset.
    pub(super) fn check_precision(&self, field: &'static str, amount: Amount) -> Result<(), Error> {
        if amount.fits(self.asset_decimal_places) {
            return Ok(());
        }
        Err(Error::Precision {
            field,
            places: self.asset_decimal_places,
        })
    }

    /// Builds the payment of a part of the order from a wallet.
    pub(crate) fn payment_leg(&self, wallet_id: WalletId, amount: Amount) -> Leg {
        Leg {
            wallet_id,
            asset_code: self.asset_code.clone(),
            amount,
            order_amount: None,
            refunded_payment: None,
            is_bonus: false,
        }
    }

    /// Builds the immediate payment of a new order: from the bonus balance first, the rest from the
    /// wallet. Legs of amount 0 are left out.
    pub(crate) fn immediate_payment(
        &self,
        bonus: Option<Leg>,
        wallet_id: Option<WalletId>,
    ) -> Result<Vec<Leg>, OutOfRange> {
        let covered = bonus.as_ref().map_or(Amount::ZERO, Leg::value);
        let rest = self.amount.sub(covered)?;
        let wallet = wallet_id.map(|wallet_id| self.payment_leg(wallet_id, rest));
        let legs = bonus.into_iter().chain(wallet);
        Ok(legs.filter(|leg| leg.amount.is_positive()).collect())
    }

    /// Applies a charge whose transactions were posted.
    pub(crate) fn record_payment(
        &mut self,
        legs: &[Leg],
        transactions: &[TransactionId],
        now: DateTime<Utc>,
    ) -> Result<Vec<Event>, Error> {
        let amount = Amount::sum(legs.iter().map(Leg::value))?;
        self.paid_amount = self.paid_amount.add(amount)?;
        let mut events = vec![Event::PaymentReceived {
            amount,
            transactions: transactions.to_vec(),
        }];
        if self.unpaid_amount().is_positive() {
            self.payment_status.move_to(PaymentStatus::Paid)?;
        }
        events.extend(self.mark_fully_paid_if_covered(now)?);
        self.touch(now);
        Ok(events)
    }

    /// Turns a draft whose payment was posted into an order.
    pub(crate) fn activate(&mut self) -> Result<Event, Error> {
        self.order_status.move_to(OrderStatus::Unfulfilled)?;
        Ok(Event::Placed)
    }

    /// Marks the order fully paid if payments cover its amount. Only the first time is an event, which
    /// grants the bonus: an order that is paid again after a refund earns none.
    pub(crate) fn mark_fully_paid_if_covered(
        &mut self,
        now: DateTime<Utc>,
    ) -> Result<Option<Event>, Error> {
        if !self.unpaid_amount().is_zero() {
            return Ok(None);
        }
        self.payment_status.move_to(PaymentStatus::FullyPaid)?;
        if self.paid_at.is_some() {
            return Ok(None);
        }
        self.paid_at = Some(now);
        Ok(Some(Event::Paid))
    }
}
