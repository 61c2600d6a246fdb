//! The states of an order and of its lines. What leads from one to the next is in `payment`,
//! `refund` and `fulfilment`.

/// How far an order has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "snake_case")]
pub enum OrderStatus {
    /// Its immediate payment is under way.
    Draft,
    /// Something is left to fulfil.
    Unfulfilled,
    /// Every line is fulfilled.
    Fulfilled,
    /// Nothing more can happen.
    Canceled,
}

/// How far an order is paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "snake_case")]
pub enum PaymentStatus {
    /// Nothing was paid.
    Unpaid,
    /// Something, not all.
    Paid,
    /// All of it.
    FullyPaid,
    /// A part of what was paid went back.
    PartiallyRefunded,
    /// All that was paid went back.
    FullyRefunded,
}

/// How the goods reach the buyer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "snake_case")]
pub enum DeliveryMethod {
    /// Sent to an address.
    Shipping,
    /// Fetched.
    Pickup,
}

impl DeliveryMethod {
    /// The public text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Shipping => "shipping",
            Self::Pickup => "pickup",
        }
    }
}

/// How far a line is fulfilled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "snake_case")]
pub enum LineStatus {
    /// No unit is.
    Unfulfilled,
    /// Some units are.
    PartiallyFulfilled,
    /// All units are.
    Fulfilled,
    /// The order was canceled.
    Canceled,
}
