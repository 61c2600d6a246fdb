//! [`Rounding`] and division with it.

use ethnum::I256;

/// The rounding of a quotient to an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest, ties away from 0: taxes and unit bonuses.
    HalfAwayFromZero,
    /// Towards 0: credits of conversions.
    Down,
    /// Away from 0: debits of conversions.
    Up,
}

/// Returns `dividend / divisor`, rounded. The divisor must be positive, and twice it must fit.
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
    fn division_rounds_ties_and_signs() {
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
