//! [`Rank`]: the fractional sort key of a list that people put in order.
//!
//! Public form: `^[0-9]{1,20}(\.[0-9]{1,40})?$`, so no rank is longer than 64 characters.

mod list;
mod place;

use std::{fmt, str::FromStr};

use ethnum::U256;
use sqlx::{
    Decode, Encode, Postgres, Type,
    encode::IsNull,
    error::BoxDynError,
    postgres::{PgArgumentBuffer, PgHasArrayType, PgTypeInfo, PgValueRef},
};

use crate::error::{FieldCode, InvalidValue};

pub use list::{Ranked, RankedList};

const INTEGER_DIGITS: usize = 20;
const DECIMALS: usize = 40;

/// A position in a list, exact, in units of 10⁻⁴⁰.
///
/// Postgres sends and gets it as text, because no decimal of 128 bits holds it: the column is
/// `numeric`, written as `$1::text::numeric` and read as `rank::text`.
///
/// ```
/// # use platform::rank::Rank;
/// let last = Rank::parse("7.50")?;
/// assert_eq!((last.to_string(), last.next().to_string()), ("7.5".into(), "8".into()));
/// # Ok::<_, platform::error::InvalidValue>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank(U256);

impl Rank {
    /// Returns the rank of the first item of a list: 1.
    pub fn first() -> Self {
        Self(one())
    }

    /// Returns the rank of an item after the last one, whose rank is `self`: the next integer. At the
    /// end of the range it is `self` again; the newer id then puts the item last.
    #[must_use]
    pub fn next(self) -> Self {
        let next = (self.0 / one() + 1) * one();
        if next < end() { Self(next) } else { self }
    }

    /// Parses the public form.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        let (integer, decimals) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |part: &str, most: usize| {
            (1..=most).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
        };
        let units = format!("{integer}{decimals:0<DECIMALS$}");
        match U256::from_str_radix(&units, 10) {
            Ok(units) if digits(integer, INTEGER_DIGITS) && digits(decimals, DECIMALS) => {
                Ok(Self(units))
            }
            _ => Err(InvalidValue::new(
                FieldCode::Format,
                "must be a decimal of at most 20 digits and 40 decimals",
            )),
        }
    }
}

/// Returns the distance of two integers.
fn one() -> U256 {
    U256::new(10).pow(40)
}

/// Returns the first integer of 21 digits, which is out of range.
fn end() -> U256 {
    U256::new(10).pow(60)
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = format!("{:040}", self.0 % one());
        write!(f, "{}", self.0 / one())?;
        match decimals.trim_end_matches('0') {
            "" => Ok(()),
            decimals => write!(f, ".{decimals}"),
        }
    }
}

impl FromStr for Rank {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl Type<Postgres> for Rank {
    fn type_info() -> PgTypeInfo {
        <String as Type<Postgres>>::type_info()
    }
}

impl PgHasArrayType for Rank {
    fn array_type_info() -> PgTypeInfo {
        String::array_type_info()
    }
}

impl Encode<'_, Postgres> for Rank {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        <String as Encode<Postgres>>::encode(self.to_string(), buffer)
    }
}

impl Decode<'_, Postgres> for Rank {
    fn decode(value: PgValueRef<'_>) -> Result<Self, BoxDynError> {
        Ok(<&str as Decode<Postgres>>::decode(value)?.parse()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(text: &str) -> Rank {
        Rank::parse(text).unwrap()
    }

    #[test]
    fn parses_only_decimals_and_drops_padding_zeros() {
        let (nines, small) = ("9".repeat(20), format!("0.{}1", "0".repeat(39)));
        let widest = format!("{nines}.{}", "9".repeat(40));
        for (text, shown) in [
            ("0", "0"),
            ("007", "7"),
            ("1.50", "1.5"),
            ("0.0", "0"),
            (small.as_str(), small.as_str()),
            (widest.as_str(), widest.as_str()),
        ] {
            assert_eq!(rank(text).to_string(), shown);
            assert_eq!(rank(shown), rank(text));
        }
        let (long, fine) = ("1".repeat(21), format!("0.{}", "1".repeat(41)));
        for text in [
            "", ".", "1.", ".5", "-1", "+1", "1e3", "1_0", " 1", "١", "1.2.3", &long, &fine,
        ] {
            assert_eq!(
                Rank::parse(text).unwrap_err().code,
                FieldCode::Format,
                "{text}"
            );
        }
    }

    #[test]
    fn sorts_as_a_number() {
        assert!(rank("2") < rank("10") && rank("9.9") < rank("10") && rank("1.05") < rank("1.5"));
    }

    #[test]
    fn next_is_the_next_integer_while_there_is_one() {
        for (last, next) in [("0", "1"), ("1", "2"), ("1.999", "2"), ("41.5", "42")] {
            assert_eq!(rank(last).next(), rank(next));
        }
        let widest = rank(&format!("{}.5", "9".repeat(20)));
        assert_eq!(widest.next(), widest);
        assert_eq!(Rank::first(), rank("1"));
    }
}
