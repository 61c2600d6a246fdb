//! States of orders, their payment and their lines, and every transition between them. `payment`,
//! `refund` and `fulfilment` decide when one happens.

use crate::error::Error;

/// A status that changes along a table.
pub(crate) trait Status: Copy + Eq + 'static {
    /// Every transition: a change of the status that is not in it is a fault of the service.
    const TRANSITIONS: &'static [Transition<Self>];

    /// Changes the status, which stays as it is if it is that already.
    fn move_to(&mut self, to: Self) -> Result<(), Error> {
        let is_allowed = |row: &Transition<Self>| row.from == *self && row.to == to;
        if *self != to && !Self::TRANSITIONS.iter().any(is_allowed) {
            return Err(Error::internal(
                "the transition is not in the table of its status",
            ));
        }
        *self = to;
        Ok(())
    }
}

/// A row of a table of transitions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Transition<S> {
    pub(crate) from: S,
    /// What happens, for the diagram in the README.
    #[cfg_attr(not(test), expect(dead_code, reason = "the diagram is made by a test"))]
    pub(crate) by: &'static str,
    pub(crate) to: S,
}

const fn row<S>(from: S, by: &'static str, to: S) -> Transition<S> {
    Transition { from, by, to }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "snake_case")]
pub(crate) enum OrderStatus {
    /// Its immediate payment is in progress.
    Draft,
    Unfulfilled,
    /// Every line is fulfilled.
    Fulfilled,
    /// Final.
    Canceled,
}

impl Status for OrderStatus {
    const TRANSITIONS: &'static [Transition<Self>] = &[
        row(Self::Draft, "its payment is posted", Self::Unfulfilled),
        row(
            Self::Unfulfilled,
            "the last unit is fulfilled",
            Self::Fulfilled,
        ),
        row(Self::Fulfilled, "a unit is taken back", Self::Unfulfilled),
        row(Self::Unfulfilled, "cancel", Self::Canceled),
    ];
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "snake_case")]
pub(crate) enum PaymentStatus {
    Unpaid,
    /// Paid in part.
    Paid,
    FullyPaid,
    PartiallyRefunded,
    FullyRefunded,
}

impl Status for PaymentStatus {
    const TRANSITIONS: &'static [Transition<Self>] = &[
        row(Self::Unpaid, "pay a part", Self::Paid),
        row(
            Self::Unpaid,
            "pay the whole, or nothing is due",
            Self::FullyPaid,
        ),
        row(Self::Paid, "pay the rest", Self::FullyPaid),
        row(Self::Paid, "refund a part", Self::PartiallyRefunded),
        row(Self::Paid, "refund the whole", Self::FullyRefunded),
        row(Self::FullyPaid, "refund a part", Self::PartiallyRefunded),
        row(Self::FullyPaid, "refund the whole", Self::FullyRefunded),
        row(
            Self::PartiallyRefunded,
            "refund the rest",
            Self::FullyRefunded,
        ),
        row(Self::PartiallyRefunded, "pay a part again", Self::Paid),
        row(
            Self::PartiallyRefunded,
            "pay the rest again",
            Self::FullyPaid,
        ),
        row(Self::FullyRefunded, "pay a part again", Self::Paid),
        row(Self::FullyRefunded, "pay the whole again", Self::FullyPaid),
    ];
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "snake_case")]
pub(crate) enum DeliveryMethod {
    /// Needs a shipping address, and may cost a shipping amount.
    Shipping,
    Pickup,
}

impl DeliveryMethod {
    /// Returns the public text.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Shipping => "shipping",
            Self::Pickup => "pickup",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "snake_case")]
pub(crate) enum LineStatus {
    Unfulfilled,
    PartiallyFulfilled,
    Fulfilled,
    /// The order was canceled.
    Canceled,
}

impl Status for LineStatus {
    const TRANSITIONS: &'static [Transition<Self>] = &[
        row(Self::Unfulfilled, "fulfil a part", Self::PartiallyFulfilled),
        row(Self::Unfulfilled, "fulfil the whole", Self::Fulfilled),
        row(Self::PartiallyFulfilled, "fulfil the rest", Self::Fulfilled),
        row(Self::PartiallyFulfilled, "take all back", Self::Unfulfilled),
        row(
            Self::Fulfilled,
            "take a part back",
            Self::PartiallyFulfilled,
        ),
        row(Self::Fulfilled, "take all back", Self::Unfulfilled),
        row(Self::Unfulfilled, "cancel", Self::Canceled),
    ];
}
