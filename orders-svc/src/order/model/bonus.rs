//! Bonuses in another asset than the order's: how a unit's bonus is converted, and how much of an
//! order a bonus balance pays.

use platform::money::{Amount, Conversion, DecimalPlaces, OutOfRange, Rounding};

use super::{Leg, Order};

/// The asset of bonuses, if it is not the order's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BonusAsset {
    pub(crate) code: String,
    pub(crate) decimal_places: DecimalPlaces,
    /// From the order's asset to this one; `None` without a rate.
    pub(crate) conversion: Option<Conversion>,
}

impl BonusAsset {
    /// Converts a unit's bonus from the order's asset, half away from zero. Returns 0 without a
    /// rate.
    pub(super) fn convert_unit(&self, unit_bonus: Amount) -> Result<Amount, OutOfRange> {
        match self.conversion {
            Some(conversion) => {
                conversion.convert(unit_bonus, self.decimal_places, Rounding::HalfAwayFromZero)
            }
            None => Ok(Amount::ZERO),
        }
    }
}

impl Order {
    /// Builds the payment from a bonus balance: as much of the order as the balance covers.
    /// `conversion` leads from the bonus asset to the order's, unless they are the same.
    pub(crate) fn bonus_leg(
        &self,
        available: Amount,
        conversion: Option<Conversion>,
    ) -> Result<Leg, OutOfRange> {
        let (amount, order_amount) = if let Some(conversion) = conversion {
            let covered = covered_amount(
                conversion,
                available,
                self.amount,
                self.asset_decimal_places,
            );
            let amount = conversion.debited(covered, self.bonus_places())?;
            (amount, Some(covered))
        } else {
            let spendable = available.round(self.asset_decimal_places, Rounding::Down)?;
            (spendable.min(self.amount), None)
        };
        Ok(Leg {
            wallet_id: self.wallet_id,
            asset_code: self.bonus_asset_code.clone(),
            amount,
            order_amount,
            refunded_payment: None,
            is_bonus: true,
        })
    }
}

/// Returns how much of `amount` the balance covers, at most its value rounded down at `places`,
/// the decimal places of the amount's asset.
pub(super) fn covered_amount(
    conversion: Conversion,
    balance: Amount,
    amount: Amount,
    places: DecimalPlaces,
) -> Amount {
    // A value out of range covers every amount.
    let value = conversion.credited(balance, places);
    value.map_or(amount, |value| value.min(amount))
}
