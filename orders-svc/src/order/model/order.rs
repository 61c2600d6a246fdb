//! The aggregate: an order with its lines.

use chrono::{DateTime, Utc};
use platform::{
    clock,
    ids::Id,
    money::{Amount, DecimalPlaces, OutOfRange, Percent},
};
use serde::{Deserialize, Serialize};
use sqlx::types::Json;

use super::{DeliveryMethod, LineStatus, OrderStatus, PaymentStatus, TaxSum};

/// Marks ids of users, which identity-svc owns.
#[derive(Debug)]
pub(crate) enum User {}
/// Marks ids of transactions, which wallet-svc owns.
#[derive(Debug)]
pub(crate) enum Transaction {}

pub(crate) type OrderId = Id<Order>;
pub(crate) type LineId = Id<Line>;
pub(crate) type UserId = Id<User>;
pub(crate) type WalletId = Id<super::Wallet>;
pub(crate) type ProductId = Id<Product>;
pub(crate) type TransactionId = Id<Transaction>;

/// A purchase. Amounts are in `asset_code` unless noted.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
#[expect(
    clippy::struct_field_names,
    reason = "`order_status` is the name in the public contract"
)]
pub(crate) struct Order {
    pub(crate) id: OrderId,
    /// Eight characters of Crockford's base 32, unique.
    pub(crate) reference: String,
    /// The buyer.
    pub(crate) user_id: UserId,
    /// The buyer's primary wallet at creation: the default payer, and where the bonus goes.
    pub(crate) wallet_id: WalletId,
    pub(crate) asset_code: String,
    pub(crate) asset_decimal_places: DecimalPlaces,
    /// Lines with tax, plus shipping.
    pub(crate) amount: Amount,
    pub(crate) taxes_amount: Amount,
    pub(crate) shipping_amount: Amount,
    /// The lines by tax rate.
    pub(crate) taxes: Json<Vec<TaxSum>>,
    /// In `bonus_asset_code`; granted once the order is fully paid.
    pub(crate) bonus: Amount,
    pub(crate) bonus_asset_code: String,
    /// `None` if the bonus is in the order's asset.
    pub(crate) bonus_decimal_places: Option<DecimalPlaces>,
    /// Why the bonus is 0 although the products promise one.
    pub(crate) bonus_skipped: Option<String>,
    /// The part of the bonus that refunds took back.
    pub(crate) bonus_revoked: Amount,
    /// The part of `bonus_revoked` that the buyer did not have, and still owes.
    pub(crate) bonus_owed: Option<Amount>,
    /// Version of the last event about `bonus_owed`.
    pub(crate) bonus_owed_version: i64,
    /// Net of refunds.
    pub(crate) paid_amount: Amount,
    pub(crate) order_status: OrderStatus,
    pub(crate) payment_status: PaymentStatus,
    pub(crate) delivery_method: Option<DeliveryMethod>,
    /// Opaque: the address is kept elsewhere.
    pub(crate) shipping_address_id: Option<String>,
    pub(crate) tracking_id: Option<uuid::Uuid>,
    /// Indicative only.
    pub(crate) chosen_payment_method: Option<String>,
    pub(crate) user_notes: Option<String>,
    /// JSON text.
    pub(crate) cancel_reason: Option<String>,
    /// JSON text as the client wrote it.
    pub(crate) custom_data: String,
    /// Number of claims ever made; the newest claim's sequence.
    pub(crate) claims: i32,
    /// Number of events ever emitted.
    pub(crate) version: i64,
    /// When payments first covered the amount.
    pub(crate) paid_at: Option<DateTime<Utc>>,
    pub(crate) fulfilled_at: Option<DateTime<Utc>>,
    pub(crate) canceled_at: Option<DateTime<Utc>>,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) updated_at: DateTime<Utc>,
}

/// Units of one product, priced when the order was created.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub(crate) struct Line {
    pub(crate) id: LineId,
    pub(crate) order_id: OrderId,
    /// Index in the cart, from 0.
    pub(crate) position: i32,
    pub(crate) product_id: ProductId,
    /// That of the snapshot.
    pub(crate) product_name: String,
    /// Snapshot: later edits of the catalogue do not change it. `None` where a line is read with others:
    /// it may be long.
    pub(crate) product: Option<Json<Product>>,
    pub(crate) quantity: i32,
    pub(crate) fulfilled_quantity: i32,
    /// Units that were refunded as such. It does not depend on fulfilment.
    pub(crate) refunded_quantity: i32,
    pub(crate) status: LineStatus,
    /// Net.
    pub(crate) unit_price: Amount,
    pub(crate) unit_tax: Amount,
    /// `None` without tax.
    pub(crate) tax_rate: Option<Percent>,
    /// In `bonus_asset_code`.
    pub(crate) unit_bonus: Amount,
    pub(crate) asset_code: String,
    pub(crate) bonus_asset_code: String,
    /// Answers to the product's questions: JSON text as the client wrote it.
    pub(crate) answers: Option<String>,
    /// When the last unit was fulfilled.
    pub(crate) fulfilled_at: Option<DateTime<Utc>>,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) updated_at: DateTime<Utc>,
}

/// Snapshot of a product.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Product {
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    /// `digital`, `physical` or `service`.
    pub(crate) type_code: String,
    /// URL.
    pub(crate) image: Option<String>,
    /// URL.
    pub(crate) thumbnail: Option<String>,
    /// JSON text as it was written.
    pub(crate) custom_data: String,
    /// JSON text.
    pub(crate) metadata: String,
    pub(crate) category: Option<Category>,
}

/// Snapshot of a product's category.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Category {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) description: Option<String>,
    pub(crate) image_url: Option<String>,
    /// JSON text as it was written.
    pub(crate) custom_data: String,
    pub(crate) created_at: Option<DateTime<Utc>>,
    pub(crate) updated_at: Option<DateTime<Utc>>,
}

/// An order with its lines, sorted by position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OrderWithLines {
    pub(crate) order: Order,
    pub(crate) lines: Vec<Line>,
}

impl Order {
    /// Dates a change. Each has another time, by which `If-Match` tells versions apart.
    pub(crate) fn touch(&mut self, now: DateTime<Utc>) {
        self.updated_at = clock::after(self.updated_at, now);
    }

    pub(crate) fn unpaid_amount(&self) -> Amount {
        difference(self.amount, self.paid_amount)
    }

    /// Returns the decimal places of the bonus asset.
    pub(crate) fn bonus_places(&self) -> DecimalPlaces {
        self.bonus_decimal_places
            .unwrap_or(self.asset_decimal_places)
    }

    /// Returns the part of the amount that was refunded after the order was fully paid, and not paid
    /// again: it earns no bonus and no referral reward.
    pub(crate) fn unearned_amount(&self) -> Amount {
        if self.paid_at.is_some() {
            self.unpaid_amount()
        } else {
            Amount::ZERO
        }
    }

    pub(crate) fn amount_without_taxes(&self) -> Amount {
        difference(self.amount, self.taxes_amount)
    }

    pub(crate) fn amount_without_shipment(&self) -> Amount {
        difference(self.amount, self.shipping_amount)
    }
}

fn difference(whole: Amount, part: Amount) -> Amount {
    whole
        .sub(part)
        .expect("0 <= part <= whole, which the table checks")
}

impl Line {
    /// Returns the units that are not fulfilled.
    pub(crate) const fn unfulfilled_quantity(&self) -> i32 {
        self.quantity - self.fulfilled_quantity
    }

    /// Returns the tax on all units.
    pub(crate) fn taxes(&self) -> Result<Amount, OutOfRange> {
        self.of_all_units(self.unit_tax)
    }

    /// Returns the price of all units.
    pub(crate) fn total_without_taxes(&self) -> Result<Amount, OutOfRange> {
        self.of_all_units(self.unit_price)
    }

    /// Returns price and tax of all units.
    pub(crate) fn total(&self) -> Result<Amount, OutOfRange> {
        self.total_of(self.quantity)
    }

    /// Returns the bonus of all units.
    pub(crate) fn bonus(&self) -> Result<Amount, OutOfRange> {
        self.of_all_units(self.unit_bonus)
    }

    /// Returns price and tax of some units.
    pub(crate) fn total_of(&self, units: i32) -> Result<Amount, OutOfRange> {
        let unit = self.unit_price.add(self.unit_tax)?;
        unit.times(u64::from(units.unsigned_abs()))
    }

    fn of_all_units(&self, unit: Amount) -> Result<Amount, OutOfRange> {
        unit.times(u64::from(self.quantity.unsigned_abs()))
    }
}
