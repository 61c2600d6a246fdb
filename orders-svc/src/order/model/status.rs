//! States of orders and lines. The transitions are in `payment`, `refund` and `fulfilment`.

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
