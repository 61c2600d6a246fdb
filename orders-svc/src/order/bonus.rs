//! Bonuses in another asset than the order's: what a unit's bonus becomes, and what a balance of
//! them pays. Pure.

use platform::money::{Amount, DecimalPlaces, OutOfRange, Rate, Rounding};

/// How amounts of one asset are turned into another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conversion {
    /// The rate that is kept.
    pub rate: Rate,
    /// Whether it leads the other way.
    pub inverse: bool,
}

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
    /// A unit's bonus, promised in the order's asset, in this one: 0 where no rate leads here.
    pub fn unit(&self, promised: Amount) -> Result<Amount, OutOfRange> {
        match self.earned_at {
            Some(conversion) => conversion.earned(promised, self.decimal_places),
            None => Ok(Amount::ZERO),
        }
    }
}

impl Conversion {
    /// The bonus of one unit, half away from zero.
    pub fn earned(self, bonus: Amount, places: DecimalPlaces) -> Result<Amount, OutOfRange> {
        self.forward(bonus, places, Rounding::HalfAwayFromZero)
    }

    /// How much of `amount` this balance covers; never more than it is worth. The decimals are those
    /// of the amount's asset.
    pub fn covered(self, balance: Amount, amount: Amount, places: DecimalPlaces) -> Amount {
        // What is worth more than can be written down covers everything.
        let worth = self.forward(balance, places, Rounding::Down);
        worth.map_or(amount, |worth| worth.min(amount))
    }

    /// What covering this much takes; never less than it is worth. The decimals are those of the
    /// balance's asset.
    pub fn debited(self, covered: Amount, places: DecimalPlaces) -> Result<Amount, OutOfRange> {
        if self.inverse {
            covered.at(self.rate, places, Rounding::Up)
        } else {
            covered.per(self.rate, places, Rounding::Up)
        }
    }

    fn forward(
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
}
