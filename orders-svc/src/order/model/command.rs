//! Requests to create or change an order, in decoded form.

use platform::money::Amount;
use uuid::Uuid;

use super::{
    DeliveryMethod, FulfilmentDirection, LineUnits, OrderId, ProductId, Units, UserId, WalletId,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NewOrder {
    pub(crate) user_id: UserId,
    pub(crate) lines: Vec<NewLine>,
    pub(crate) delivery_method: Option<DeliveryMethod>,
    pub(crate) shipping_address_id: Option<String>,
    /// Indicative only.
    pub(crate) chosen_payment_method: Option<String>,
    pub(crate) user_notes: Option<String>,
    /// JSON text as the client wrote it.
    pub(crate) custom_data: String,
    /// Whether the bonus balance pays first.
    pub(crate) use_bonus: bool,
    /// Pays the order immediately, if given.
    pub(crate) wallet_id: Option<WalletId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NewLine {
    pub(crate) product_id: ProductId,
    pub(crate) quantity: i32,
    /// Answers to the product's questions: JSON text as the client wrote it.
    pub(crate) answers: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PayOrder {
    pub(crate) order_id: OrderId,
    /// Default: everything that is unpaid.
    pub(crate) amount: Option<Amount>,
    /// Default: the buyer's primary wallet.
    pub(crate) wallet_id: Option<WalletId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CancelOrder {
    pub(crate) order_id: OrderId,
    /// Default: everything that was paid.
    pub(crate) refund: Option<Amount>,
    /// JSON text of a string or an array.
    pub(crate) reason: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RefundOrder {
    pub(crate) order_id: OrderId,
    pub(crate) part: RefundedPart,
    /// JSON text of a string or an array.
    pub(crate) reason: Option<String>,
}

/// What a refund gives back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RefundedPart {
    Amount(Amount),
    /// Price and tax of units. Each line is named once.
    Lines(Vec<LineUnits>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FulfilOrder {
    pub(crate) order_id: OrderId,
    pub(crate) direction: FulfilmentDirection,
    pub(crate) units: Units,
    /// Replaces the order's tracking id, if given.
    pub(crate) tracking_id: Option<Uuid>,
}
