//! Quotes: the catalogue's prices and rules for the lines of a cart.

use platform::{
    error::{FieldCode, Violations},
    money::{Amount, DecimalPlaces, Percent},
};

use super::Product;
use crate::error::Error;

/// The catalogue's quote of one line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an independent switch of the product"
)]
pub(crate) struct Quote {
    pub(crate) product: Product,
    pub(crate) asset_code: String,
    pub(crate) asset_decimal_places: DecimalPlaces,
    /// Net.
    pub(crate) unit_price: Amount,
    pub(crate) tax_rate: Option<Percent>,
    pub(crate) unit_tax: Amount,
    /// In `asset_code`.
    pub(crate) unit_bonus: Amount,
    pub(crate) available: bool,
    /// Whether more than one unit can be ordered.
    pub(crate) allow_choosing_quantity: bool,
    /// Whether only verified users can order it.
    pub(crate) requires_identity: bool,
    /// Whether the shop shows it.
    pub(crate) visible: bool,
    pub(crate) answer_faults: Vec<AnswerFault>,
}

impl Quote {
    /// Returns whether every amount fits the decimals of the asset: of one that does not, a part could
    /// never be paid.
    pub(super) fn is_payable(&self) -> bool {
        [self.unit_price, self.unit_tax, self.unit_bonus]
            .into_iter()
            .all(|amount| amount.fits(self.asset_decimal_places))
    }
}

/// A fault that the catalogue found in the answers to a product's questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AnswerFault {
    /// Question id and path in its answer; empty if the answers as a whole are at fault.
    pub(crate) path: String,
    pub(crate) code: FieldCode,
    pub(crate) message: String,
}

/// Reports every fault of every line together, so that a form can show all of them.
pub(super) fn check_answers(quotes: &[&Quote]) -> Result<(), Error> {
    let mut violations = Violations::default();
    for (position, quote) in quotes.iter().enumerate() {
        for fault in &quote.answer_faults {
            let answers = format!("lines[{position}].productQuestionsResult");
            let field = match fault.path.as_str() {
                "" => answers,
                path => format!("{answers}.{path}"),
            };
            violations.add(field, fault.code, fault.message.as_str());
        }
    }
    Ok(violations.finish()?)
}
