//! From one asset to another by a rate, in either direction.

use super::{Amount, DecimalPlaces, OutOfRange, Rate, Rounding};

/// How to turn amounts of one asset into another: by the pair's own rate, or by that of the inverse
/// pair. Rounds once, at the asset's own decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conversion {
    /// The stored rate.
    pub rate: Rate,
    /// Whether the stored rate leads the other way: divide by it instead of multiplying.
    pub inverse: bool,
}

impl Conversion {
    /// What an amount of the first asset is worth in the second, whose decimals these are.
    pub fn convert(
        self,
        amount: Amount,
        places: DecimalPlaces,
        rounding: Rounding,
    ) -> Result<Amount, OutOfRange> {
        if self.inverse {
            amount.per(self.rate, places, rounding)
        } else {
            amount.at(self.rate, places, rounding)
        }
    }

    /// What an amount of the first asset buys of the second, whose decimals these are: rounded down,
    /// so that no value is created.
    pub fn credited(self, amount: Amount, places: DecimalPlaces) -> Result<Amount, OutOfRange> {
        self.convert(amount, places, Rounding::Down)
    }

    /// What an amount of the second asset costs in the first, whose decimals these are: rounded up,
    /// so that no value is created.
    pub fn debited(self, amount: Amount, places: DecimalPlaces) -> Result<Amount, OutOfRange> {
        let back = Self {
            inverse: !self.inverse,
            ..self
        };
        back.convert(amount, places, Rounding::Up)
    }
}

#[cfg(test)]
mod tests;
