//! What an order is: its states, its lines, its amounts. No SQL, no wire, no clock here; what may
//! happen to an order is in `payment`, `refund` and `fulfilment`.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use platform::{
    ids::Id,
    money::{Amount, DecimalPlaces, OutOfRange, Percent},
};
use serde::{Deserialize, Serialize};
use sqlx::types::Json;

pub use super::status::{DeliveryMethod, LineStatus, OrderStatus, PaymentStatus};

/// Marks ids of users, whom identity-svc owns.
#[derive(Debug)]
pub enum User {}
/// Marks ids of wallets, which wallet-svc owns.
#[derive(Debug)]
pub enum Wallet {}
/// Marks ids of transactions, which wallet-svc owns.
#[derive(Debug)]
pub enum Transaction {}

/// Id of an order.
pub type OrderId = Id<Order>;
/// Id of an order line.
pub type LineId = Id<Line>;
/// Id of a user.
pub type UserId = Id<User>;
/// Id of a wallet.
pub type WalletId = Id<Wallet>;
/// Id of a product.
pub type ProductId = Id<Product>;
/// Id of a transaction.
pub type TransactionId = Id<Transaction>;

/// A purchase. Amounts are in `asset_code` unless said otherwise.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct Order {
    /// Its id.
    pub id: OrderId,
    /// Eight characters, unique.
    pub reference: String,
    /// The buyer.
    pub user_id: UserId,
    /// The buyer's primary wallet when the order was placed.
    pub wallet_id: WalletId,
    /// What it is priced in.
    pub asset_code: String,
    /// How fine amounts of the asset are.
    pub asset_decimal_places: DecimalPlaces,
    /// Lines with tax, and shipping.
    pub amount: Amount,
    /// Taxes of all lines.
    pub taxes_amount: Amount,
    /// What the delivery costs.
    pub shipping_amount: Amount,
    /// What the buyer earns, in `bonus_asset_code`.
    pub bonus: Amount,
    /// What the bonus is paid in.
    pub bonus_asset_code: String,
    /// How fine amounts of that are, where it is not the order's asset.
    pub bonus_decimal_places: Option<DecimalPlaces>,
    /// Why the bonus is 0 though the products promise one.
    pub bonus_skipped: Option<String>,
    /// How much of the bonus is taken back.
    pub bonus_revoked: Amount,
    /// What was paid, net of refunds.
    pub paid_amount: Amount,
    /// How far it has come.
    pub order_status: OrderStatus,
    /// How far it is paid.
    pub payment_status: PaymentStatus,
    /// How it is delivered.
    pub delivery_method: Option<DeliveryMethod>,
    /// Where it is sent.
    pub shipping_address_id: Option<String>,
    /// Where the parcel is.
    pub tracking_id: Option<uuid::Uuid>,
    /// What the buyer means to pay with; indicative.
    pub chosen_payment_method: Option<String>,
    /// What the buyer wants to say.
    pub user_notes: Option<String>,
    /// JSON text.
    pub cancel_reason: Option<String>,
    /// JSON text as the client wrote it.
    pub custom_data: String,
    /// Claims ever made on it.
    pub claims: i32,
    /// Events ever emitted about it.
    pub version: i64,
    /// When the payments first covered the amount.
    pub paid_at: Option<DateTime<Utc>>,
    /// When the last unit was fulfilled.
    pub fulfilled_at: Option<DateTime<Utc>>,
    /// When it was canceled.
    pub canceled_at: Option<DateTime<Utc>>,
    /// When it was placed.
    pub created_at: DateTime<Utc>,
    /// When it last changed.
    pub updated_at: DateTime<Utc>,
}

/// Some units of one product, as it was when the order was placed.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct Line {
    /// Its id.
    pub id: LineId,
    /// The order it is part of.
    pub order_id: OrderId,
    /// Its place in the order, from 0.
    pub position: i32,
    /// The product.
    pub product_id: ProductId,
    /// The product as it was.
    pub product: Json<Product>,
    /// Units ordered.
    pub quantity: i32,
    /// Units fulfilled.
    pub fulfilled_quantity: i32,
    /// How far it is fulfilled.
    pub status: LineStatus,
    /// Net price of a unit.
    pub unit_price: Amount,
    /// Tax on a unit.
    pub unit_tax: Amount,
    /// Percent; none without tax.
    pub tax_rate: Option<Percent>,
    /// Bonus for a unit, in `bonus_asset_code`.
    pub unit_bonus: Amount,
    /// What it is priced in.
    pub asset_code: String,
    /// What the bonus is paid in.
    pub bonus_asset_code: String,
    /// What the buyer answered to the product's questions: JSON text as the client wrote it.
    pub answers: Option<String>,
    /// When its last unit was fulfilled.
    pub fulfilled_at: Option<DateTime<Utc>>,
    /// When it was placed.
    pub created_at: DateTime<Utc>,
    /// When it last changed.
    pub updated_at: DateTime<Utc>,
}

/// A product as a line remembers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Product {
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: Option<String>,
    /// `digital`, `physical` or `service`.
    pub type_code: String,
    /// URL of its image.
    pub image: Option<String>,
    /// URL of its small image.
    pub thumbnail: Option<String>,
    /// JSON text as it was written.
    pub custom_data: String,
    /// JSON text.
    pub metadata: String,
    /// Its category.
    pub category: Option<Category>,
}

/// A category as a line remembers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Category {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its description.
    pub description: Option<String>,
    /// URL of its image.
    pub image_url: Option<String>,
    /// JSON text as it was written.
    pub custom_data: String,
}

/// An order with its lines, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderWithLines {
    /// The order.
    pub order: Order,
    /// All its lines.
    pub lines: Vec<Line>,
}

/// What happened to an order, told to the other contexts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// It exists, and is no draft.
    Placed,
    /// Money came in.
    PaymentReceived {
        /// How much, in the order's asset.
        amount: Amount,
        /// The transactions that brought it.
        transactions: Vec<TransactionId>,
    },
    /// It became fully paid.
    Paid,
    /// Every line became fulfilled.
    Fulfilled,
    /// It was fulfilled and is no longer.
    Unfulfilled,
    /// It was canceled, and this went back.
    Canceled {
        /// How much of each asset.
        refunded: BTreeMap<String, Amount>,
    },
    /// Money went back.
    Refunded {
        /// How much of each asset.
        amounts: BTreeMap<String, Amount>,
        /// The transactions that took it back.
        transactions: Vec<TransactionId>,
    },
}

impl Order {
    /// What is left to pay.
    pub fn unpaid_amount(&self) -> Amount {
        difference(self.amount, self.paid_amount)
    }

    /// How fine amounts of the bonus are.
    pub fn bonus_places(&self) -> DecimalPlaces {
        self.bonus_decimal_places
            .unwrap_or(self.asset_decimal_places)
    }

    /// The amount before taxes.
    pub fn amount_without_taxes(&self) -> Amount {
        difference(self.amount, self.taxes_amount)
    }

    /// The amount before shipping.
    pub fn amount_without_shipment(&self) -> Amount {
        difference(self.amount, self.shipping_amount)
    }
}

fn difference(whole: Amount, part: Amount) -> Amount {
    whole
        .sub(part)
        .expect("0 <= part <= whole, which the table checks")
}

impl Line {
    /// Units not yet fulfilled.
    pub const fn left(&self) -> i32 {
        self.quantity - self.fulfilled_quantity
    }

    /// Tax on all its units.
    pub fn taxes(&self) -> Result<Amount, OutOfRange> {
        self.unit_tax.times(u64::from(self.quantity.unsigned_abs()))
    }

    /// Price and tax of all its units.
    pub fn total(&self) -> Result<Amount, OutOfRange> {
        let unit = self.unit_price.add(self.unit_tax)?;
        unit.times(u64::from(self.quantity.unsigned_abs()))
    }

    /// Bonus for all its units.
    pub fn bonus(&self) -> Result<Amount, OutOfRange> {
        self.unit_bonus
            .times(u64::from(self.quantity.unsigned_abs()))
    }
}
