//! Bonuses in another asset than the order's: what a unit's bonus becomes, and what a balance of
//! them pays. Pure.

use platform::money::{Amount, Conversion, DecimalPlaces, OutOfRange, Rounding};

/// What bonuses are paid in, where that is not the order's asset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BonusAsset {
    /// As wallet-svc writes it.
    pub code: String,
    /// How fine amounts of it are.
    pub decimal_places: DecimalPlaces,
    /// From the order's asset to it; none where no rate leads there.
    pub earned_at: Option<Conversion>,
}

impl BonusAsset {
    /// A unit's bonus, promised in the order's asset, in this one, half away from zero: 0 where no
    /// rate leads here.
    pub fn unit(&self, promised: Amount) -> Result<Amount, OutOfRange> {
        match self.earned_at {
            Some(conversion) => {
                conversion.convert(promised, self.decimal_places, Rounding::HalfAwayFromZero)
            }
            None => Ok(Amount::ZERO),
        }
    }
}

/// How much of `amount` this balance covers; never more than it is worth. The decimals are those of
/// the amount's asset.
pub fn cover(
    conversion: Conversion,
    balance: Amount,
    amount: Amount,
    places: DecimalPlaces,
) -> Amount {
    // What is worth more than can be written down covers everything.
    let worth = conversion.credited(balance, places);
    worth.map_or(amount, |worth| worth.min(amount))
}
