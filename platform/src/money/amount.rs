//! [`Amount`]: a quantity of some asset.

use std::{fmt, ops::Neg, str::FromStr};

use ethnum::I256;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{DecimalPlaces, Percent, Rate, Rounding, round::divide, text};
use crate::error::{Code, Failure, FieldCode, InvalidValue};

/// Units of an amount of 1.
pub(super) const ONE: i128 = 100_000_000;

/// The first magnitude out of range: 21 integer digits.
const LIMIT: i128 = 10_i128.pow(20) * ONE;

/// The error of a result with more than 20 integer digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the amount would have more than 20 integer digits")]
pub struct OutOfRange;

impl From<OutOfRange> for Failure {
    fn from(error: OutOfRange) -> Self {
        Self::new(Code::AmountOutOfRange, error.to_string())
    }
}

/// An amount, price or balance: up to 20 integer digits and exactly 8 decimals.
///
/// ```
/// # use platform::money::{Amount, DecimalPlaces, Percent, Rounding};
/// let price = Amount::parse("24.99").unwrap();
/// let (rate, cents) = (Percent::parse("10.75").unwrap(), DecimalPlaces::new(2).unwrap());
/// let tax = price.percent(rate, cents, Rounding::HalfAwayFromZero).unwrap();
/// assert_eq!(tax.to_string(), "2.69000000");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Amount(i128);

impl Amount {
    /// The amount 0.
    pub const ZERO: Self = Self(0);

    /// Parses an amount of a client: `^(0|[1-9][0-9]{0,18})(\.[0-9]{1,8})?$`.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        text::parse_public(text).map(Self)
    }

    /// Parses an amount of a client that is more than 0.
    pub fn parse_positive(text: &str) -> Result<Self, InvalidValue> {
        let amount = Self::parse(text)?;
        if amount.is_positive() {
            Ok(amount)
        } else {
            Err(InvalidValue::new(FieldCode::Range, "must be more than 0"))
        }
    }

    /// Creates an amount from units of 10⁻⁸.
    pub const fn from_units(units: i128) -> Result<Self, OutOfRange> {
        if units > -LIMIT && units < LIMIT {
            Ok(Self(units))
        } else {
            Err(OutOfRange)
        }
    }

    /// Returns the amount in units of 10⁻⁸.
    pub const fn units(self) -> i128 {
        self.0
    }

    /// Returns whether the amount is 0.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Returns whether the amount is more than 0.
    pub const fn is_positive(self) -> bool {
        self.0 > 0
    }

    /// Returns whether the amount is less than 0.
    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }

    /// Adds two amounts.
    pub const fn add(self, other: Self) -> Result<Self, OutOfRange> {
        Self::from_units(self.0 + other.0)
    }

    /// Subtracts an amount.
    pub const fn sub(self, other: Self) -> Result<Self, OutOfRange> {
        Self::from_units(self.0 - other.0)
    }

    /// Multiplies the amount by an integer.
    pub fn times(self, count: u64) -> Result<Self, OutOfRange> {
        let product = I256::from(self.0) * I256::from(count);
        product
            .try_into()
            .map_err(|_| OutOfRange)
            .and_then(Self::from_units)
    }

    /// Adds amounts.
    pub fn sum(amounts: impl IntoIterator<Item = Self>) -> Result<Self, OutOfRange> {
        amounts.into_iter().try_fold(Self::ZERO, Self::add)
    }

    /// Returns whether the amount has no more than these decimals, not counting trailing zeros.
    pub const fn fits(self, places: DecimalPlaces) -> bool {
        self.0 % places.unit() == 0
    }

    /// Rounds the amount to these decimals.
    pub fn round(self, places: DecimalPlaces, rounding: Rounding) -> Result<Self, OutOfRange> {
        self.ratio(1, 1, places, rounding)
    }

    /// Returns this percentage of the amount, rounded once.
    pub fn percent(
        self,
        percent: Percent,
        places: DecimalPlaces,
        rounding: Rounding,
    ) -> Result<Self, OutOfRange> {
        self.ratio(percent.units(), 100 * ONE, places, rounding)
    }

    /// Returns this percentage of amount × rate, or of amount ÷ rate, rounded once.
    pub(super) fn percent_at(
        self,
        percent: Percent,
        rate: Rate,
        inverse: bool,
        places: DecimalPlaces,
        rounding: Rounding,
    ) -> Result<Self, OutOfRange> {
        let (percent, hundred, rate) = (percent.units(), 100 * ONE, rate.units());
        // At most 10¹⁰ × 10²⁸, which an i128 holds.
        let (numerator, denominator) = if inverse {
            (percent * ONE, hundred * rate)
        } else {
            (percent * rate, hundred * ONE)
        };
        self.ratio(numerator, denominator, places, rounding)
    }

    /// Returns amount × rate, rounded once: converts the base asset to the quote asset.
    pub fn at(
        self,
        rate: Rate,
        places: DecimalPlaces,
        rounding: Rounding,
    ) -> Result<Self, OutOfRange> {
        self.ratio(rate.units(), ONE, places, rounding)
    }

    /// Returns amount ÷ rate, rounded once: converts the quote asset to the base asset.
    pub fn per(
        self,
        rate: Rate,
        places: DecimalPlaces,
        rounding: Rounding,
    ) -> Result<Self, OutOfRange> {
        self.ratio(ONE, rate.units(), places, rounding)
    }

    /// Returns amount × `part` ÷ `whole`, rounded once: a proportional share. Fails unless `whole` is
    /// positive.
    pub fn mul_div(
        self,
        part: Self,
        whole: Self,
        places: DecimalPlaces,
        rounding: Rounding,
    ) -> Result<Self, OutOfRange> {
        self.ratio(part.0, whole.0, places, rounding)
    }

    fn ratio(
        self,
        numerator: i128,
        denominator: i128,
        places: DecimalPlaces,
        rounding: Rounding,
    ) -> Result<Self, OutOfRange> {
        if denominator <= 0 {
            return Err(OutOfRange);
        }
        // The amount is below 10²⁸ and the others at most 10³⁸, so the products stay below 10⁶⁷ of
        // I256's 5 × 10⁷⁶.
        let unit = I256::from(places.unit());
        let dividend = I256::from(self.0) * I256::from(numerator);
        let steps = divide(dividend, I256::from(denominator) * unit, rounding);
        (steps * unit)
            .try_into()
            .map_err(|_| OutOfRange)
            .and_then(Self::from_units)
    }
}

impl Neg for Amount {
    type Output = Self;

    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, units) = (if self.0 < 0 { "-" } else { "" }, self.0.unsigned_abs());
        let one = ONE.unsigned_abs();
        write!(f, "{sign}{}.{:08}", units / one, units % one)
    }
}

impl fmt::Debug for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Parses the output of [`Display`](fmt::Display): unlike [`Amount::parse`] with a sign and up to 20
/// digits. For text that this code base wrote.
impl FromStr for Amount {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text::parse_stored(text).map(Self)
    }
}

impl From<Amount> for String {
    fn from(amount: Amount) -> Self {
        amount.to_string()
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(text: &str) -> Amount {
        text.parse().unwrap()
    }

    #[test]
    fn text_has_eight_decimals() {
        for (units, text) in [
            (0, "0.00000000"),
            (1, "0.00000001"),
            (-150_000_000, "-1.50000000"),
            (LIMIT - 1, "99999999999999999999.99999999"),
        ] {
            assert_eq!(Amount::from_units(units).unwrap().to_string(), text);
            assert_eq!(amount(text).units(), units);
        }
    }

    #[test]
    fn results_beyond_twenty_integer_digits_are_out_of_range() {
        let max = Amount::from_units(LIMIT - 1).unwrap();
        let unit = Amount::from_units(1).unwrap();
        assert_eq!(max.add(unit), Err(OutOfRange));
        assert_eq!((-max).sub(unit), Err(OutOfRange));
        assert_eq!(max.times(2), Err(OutOfRange));
        assert_eq!(max.times(u64::MAX), Err(OutOfRange));
        assert_eq!(
            max.round(DecimalPlaces::new(0).unwrap(), Rounding::Up),
            Err(OutOfRange)
        );
        let sum = Amount::sum([amount("92233720368547758.07"); 2]).unwrap();
        assert_eq!(sum.to_string(), "184467440737095516.14000000");
        assert_eq!(Failure::from(OutOfRange).code, Code::AmountOutOfRange);
    }

    #[test]
    fn trailing_zeros_are_not_counted_as_decimals() {
        let cents = DecimalPlaces::new(2).unwrap();
        assert!(amount("14.20000000").fits(cents) && amount("-0.01").fits(cents));
        assert!(!amount("14.28444999").fits(cents));
        assert!(amount("0.00000001").fits(DecimalPlaces::MAX));
    }

    #[test]
    fn a_share_rounded_down_does_not_exceed_its_part() {
        let (all, third) = (amount("100"), amount("33.33"));
        let cents = DecimalPlaces::new(2).unwrap();
        let share = amount("10")
            .mul_div(third, all, cents, Rounding::Down)
            .unwrap();
        assert_eq!(share, amount("3.33"));
        assert_eq!(
            all.mul_div(third, Amount::ZERO, cents, Rounding::Up),
            Err(OutOfRange)
        );
    }
}
