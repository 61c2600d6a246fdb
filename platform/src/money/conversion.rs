//! Conversion between two assets by a rate, in either direction.

use super::{Amount, DecimalPlaces, OutOfRange, Percent, Rate, Rounding};

/// The conversion of one asset to another, by the rate of the pair or of the inverse pair. Rounds
/// once, to the decimals of the asset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conversion {
    /// Stored rate.
    pub rate: Rate,
    /// Whether the stored rate is of the inverse pair: amounts are divided by it.
    pub inverse: bool,
}

impl Conversion {
    /// Converts an amount of the first asset to the second, which has these decimals.
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

    /// Converts a debit of the first asset to a credit of the second, which has these decimals. Rounds
    /// down, so that no value is created.
    pub fn credited(self, amount: Amount, places: DecimalPlaces) -> Result<Amount, OutOfRange> {
        self.convert(amount, places, Rounding::Down)
    }

    /// Converts this percentage of a debit of the first asset to a credit of the second, which has
    /// these decimals. Rounds down, once.
    pub fn credited_percent(
        self,
        amount: Amount,
        percent: Percent,
        places: DecimalPlaces,
    ) -> Result<Amount, OutOfRange> {
        amount.percent_at(percent, self.rate, self.inverse, places, Rounding::Down)
    }

    /// Converts a credit of the second asset to a debit of the first, which has these decimals. Rounds
    /// up, so that no value is created.
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
