//! The model of what was paid of an order, in cents.

/// What is left of a payment after refunds.
#[derive(Debug, Clone, Copy)]
pub(super) enum Payment {
    Usd(i64),
    /// Points, and how much of the order they paid.
    Points {
        points: i64,
        value: i64,
    },
}

/// Money of both assets.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Money {
    pub(super) usd: i64,
    pub(super) points: i64,
}

impl Payment {
    /// Returns how much of the order it pays.
    pub(super) const fn value(&self) -> i64 {
        match *self {
            Self::Usd(value) | Self::Points { value, .. } => value,
        }
    }

    /// Returns the money in it.
    pub(super) const fn money(&self) -> Money {
        match *self {
            Self::Usd(usd) => Money { usd, points: 0 },
            Self::Points { points, .. } => Money { usd: 0, points },
        }
    }
}

/// Gives back this much of what was paid, the newest payment first. A part of the points of a payment is
/// rounded down, and the rest returns all that are left.
pub(super) fn give_back(payments: &mut [Payment], cents: i64) -> Money {
    let mut refund = Money::default();
    let mut rest = cents;
    for payment in payments.iter_mut().rev() {
        let covered = payment.value().min(rest);
        rest -= covered;
        match payment {
            Payment::Usd(left) => {
                *left -= covered;
                refund.usd += covered;
            }
            Payment::Points { points, value } if covered > 0 => {
                let part = *points * covered / *value;
                *points -= part;
                *value -= covered;
                refund.points += part;
            }
            Payment::Points { .. } => {}
        }
    }
    refund
}
