//! [`Rounding`], and the one division that applies it.

use ethnum::I256;

/// Where a quotient goes that is not a whole number of units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest; a tie away from 0. Taxes and unit bonuses.
    HalfAwayFromZero,
    /// Towards 0. What is credited by a conversion.
    Down,
    /// Away from 0. What is debited by a conversion.
    Up,
}

/// `dividend / divisor`, rounded. The divisor is positive, and twice it fits.
pub(super) fn divide(dividend: I256, divisor: I256, rounding: Rounding) -> I256 {
    let (quotient, rest) = (dividend / divisor, dividend % divisor);
    let away = match rounding {
        Rounding::Down => false,
        Rounding::Up => rest != 0,
        Rounding::HalfAwayFromZero => rest.abs() * 2 >= divisor,
    };
    if away {
        quotient + dividend.signum()
    } else {
        quotient
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_and_signs() {
        use Rounding::{Down, HalfAwayFromZero as Half, Up};
        for (dividend, rounding, quotient) in [
            (5, Half, 3),
            (-5, Half, -3),
            (4, Half, 2),
            (5, Down, 2),
            (-5, Down, -2),
            (5, Up, 3),
            (-5, Up, -3),
            (4, Up, 2),
            (0, Up, 0),
        ] {
            let got = divide(I256::from(dividend), I256::from(2), rounding);
            assert_eq!(got, I256::from(quotient), "{dividend} / 2 {rounding:?}");
        }
    }
}
