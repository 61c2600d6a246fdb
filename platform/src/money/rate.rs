//! [`Rate`] and [`Percent`], the factors of amounts.

use std::fmt;

use super::{Amount, amount::ONE};
use crate::error::{FieldCode, InvalidValue};

/// An exchange rate, more than 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, sqlx::Type)]
#[sqlx(transparent)]
pub struct Rate(Amount);

impl Rate {
    /// Parses a rate of a client, in the grammar of amounts.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        let rate = Amount::parse(text)?;
        if rate.is_positive() {
            return Ok(Self(rate));
        }
        Err(InvalidValue::new(FieldCode::Range, "must be more than 0"))
    }

    pub(super) const fn units(self) -> i128 {
        self.0.units()
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A percentage, 0 to 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, sqlx::Type)]
#[sqlx(transparent)]
pub struct Percent(Amount);

impl Percent {
    /// The percentage 0.
    pub const ZERO: Self = Self(Amount::ZERO);

    /// Parses a percentage of a client, in the grammar of amounts.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        let percent = Amount::parse(text)?;
        if percent.units() <= 100 * ONE {
            return Ok(Self(percent));
        }
        Err(InvalidValue::new(FieldCode::Range, "must be 0 to 100"))
    }

    pub(super) const fn units(self) -> i128 {
        self.0.units()
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_out_of_range_are_rejected() {
        assert!(Rate::parse("0").is_err() && Rate::parse("0.00000000").is_err());
        assert_eq!(Rate::parse("0.00000001").unwrap().to_string(), "0.00000001");
        assert_eq!(Percent::parse("100").unwrap().to_string(), "100.00000000");
        assert!(Percent::parse("100.00000001").is_err() && Percent::parse("-1").is_err());
    }
}
