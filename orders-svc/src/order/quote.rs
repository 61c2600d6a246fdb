//! What the catalogue says of the lines of a cart.

use platform::money::{Amount, DecimalPlaces, Percent};

use super::{answers::AnswerFault, model::Product};

/// What the catalogue says of one line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the product, and refuses by itself"
)]
pub struct Quote {
    /// The product as it is now.
    pub product: Product,
    /// What it is priced in.
    pub asset_code: String,
    /// How fine amounts of the asset are.
    pub asset_decimal_places: DecimalPlaces,
    /// Net.
    pub unit_price: Amount,
    /// Percent.
    pub tax_rate: Option<Percent>,
    /// Tax on a unit.
    pub unit_tax: Amount,
    /// In `asset_code`.
    pub unit_bonus: Amount,
    /// Whether it can be ordered.
    pub available: bool,
    /// Whether more than one can be ordered.
    pub allow_choosing_quantity: bool,
    /// Whether only verified users can order it.
    pub requires_identity: bool,
    /// Whether the shop shows it.
    pub visible: bool,
    /// What is wrong with the answers of the line.
    pub answer_faults: Vec<AnswerFault>,
}
