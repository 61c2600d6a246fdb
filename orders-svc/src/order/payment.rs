//! Taking money for an order: what may be charged, and what a charge changes.

use chrono::{DateTime, Utc};
use platform::{
    error::FieldCode,
    money::{Amount, DecimalPlaces, OutOfRange, Rounding},
};

use super::{
    claim::Leg,
    model::{Event, Order, OrderStatus, PaymentStatus, TransactionId, WalletId},
};
use crate::error::Error;

/// Money that was taken for an order, and how much of it went back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    /// The transaction that took it.
    pub transaction_id: TransactionId,
    /// The claim it was taken under, and its place among the legs.
    pub claim: i32,
    /// Its place among the legs of the claim.
    pub leg: i32,
    /// Where it came from.
    pub wallet_id: WalletId,
    /// What it was paid in.
    pub asset_code: String,
    /// How much it was.
    pub amount: Amount,
    /// What that was worth in the order's asset, where it was in another.
    pub covers: Option<Amount>,
    /// How much of it went back.
    pub refunded_amount: Amount,
}

impl Payment {
    /// What a part of it is worth in the order's asset.
    pub fn worth(&self, part: Amount) -> Result<Amount, OutOfRange> {
        match self.covers {
            None => Ok(part),
            Some(covers) => covers.mul_div(part, self.amount, DecimalPlaces::MAX, Rounding::Down),
        }
    }

    /// How fine parts of it are: exact in the order's asset, where nothing is converted.
    pub const fn places(&self, bonus_places: DecimalPlaces) -> DecimalPlaces {
        if self.covers.is_some() {
            bonus_places
        } else {
            DecimalPlaces::MAX
        }
    }
}

impl Order {
    /// Checks that this much may be paid, by default all that is unpaid.
    pub fn charge(&self, amount: Option<Amount>) -> Result<Amount, Error> {
        if self.order_status == OrderStatus::Canceled {
            return Err(Error::InvalidState("the order is canceled"));
        }
        let unpaid = self.unpaid_amount();
        if unpaid.is_zero() {
            return Err(Error::InvalidState("the order is fully paid"));
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

    /// An amount of the order's asset has no more decimals than the asset.
    pub fn check_precision(&self, field: &'static str, amount: Amount) -> Result<(), Error> {
        if amount.fits(self.asset_decimal_places) {
            return Ok(());
        }
        Err(Error::Precision {
            field,
            places: self.asset_decimal_places,
        })
    }

    /// The transactions of a charge were posted: what each leg brought is paid.
    pub fn receive(
        &mut self,
        legs: &[Leg],
        transactions: &[TransactionId],
        now: DateTime<Utc>,
    ) -> Result<Vec<Event>, Error> {
        let amount = Amount::sum(legs.iter().map(Leg::covered))?;
        self.paid_amount = self.paid_amount.add(amount)?;
        let mut events = vec![Event::PaymentReceived {
            amount,
            transactions: transactions.to_vec(),
        }];
        self.payment_status = PaymentStatus::Paid;
        events.extend(self.cover(now));
        self.updated_at = now;
        Ok(events)
    }

    /// The draft's payment went through: now it is an order.
    pub fn place(&mut self) -> Event {
        self.order_status = OrderStatus::Unfulfilled;
        Event::Placed
    }

    /// Whether the amount is covered now, for the first time.
    pub fn cover(&mut self, now: DateTime<Utc>) -> Option<Event> {
        if !self.unpaid_amount().is_zero() || self.payment_status == PaymentStatus::FullyPaid {
            return None;
        }
        self.payment_status = PaymentStatus::FullyPaid;
        self.paid_at = Some(now);
        Some(Event::Paid)
    }
}
