//! Comparison of the arithmetic with long division on decimal digits.

use proptest::prelude::*;

use super::*;

/// Multiplies decimal numbers digit by digit.
fn multiply(a: &str, b: &str) -> String {
    let mut digits = vec![0_u32; a.len() + b.len()];
    for (i, x) in a.bytes().rev().enumerate() {
        for (j, y) in b.bytes().rev().enumerate() {
            digits[i + j] += u32::from(x - b'0') * u32::from(y - b'0');
            digits[i + j + 1] += digits[i + j] / 10;
            digits[i + j] %= 10;
        }
    }
    digits
        .iter()
        .rev()
        .map(|digit| char::from_digit(*digit, 10).unwrap())
        .collect()
}

struct Quotient {
    quotient: u128,
    rest: u128,
}

fn long_division(dividend: &str, divisor: u128) -> Quotient {
    let (mut quotient, mut rest) = (0_u128, 0_u128);
    for digit in dividend.bytes() {
        rest = rest * 10 + u128::from(digit - b'0');
        quotient = quotient * 10 + rest / divisor;
        rest %= divisor;
    }
    Quotient { quotient, rest }
}

/// Returns `a × b / c` in steps of `10^(8 - places)`, all in units.
fn expected(a: i128, b: i128, c: i128, places: u8, rounding: Rounding) -> i128 {
    let step = 10_u128.pow(8 - u32::from(places));
    let product = multiply(&a.unsigned_abs().to_string(), &b.unsigned_abs().to_string());
    let divisor = c.unsigned_abs() * step;
    let Quotient { quotient, rest } = long_division(&product, divisor);
    let away = match rounding {
        Rounding::HalfAwayFromZero => rest * 2 >= divisor,
        Rounding::Down => false,
        Rounding::Up => rest != 0,
    };
    i128::try_from((quotient + u128::from(away)) * step).unwrap() * a.signum()
}

fn amounts() -> impl Strategy<Value = Amount> {
    // Small and large ones, many of them divisible by powers of ten.
    let magnitude = prop_oneof![
        0_i128..10_000,
        0_i128..10_i128.pow(12),
        0_i128..10_i128.pow(27)
    ];
    (magnitude, 0_u32..9, any::<bool>()).prop_map(|(units, zeros, negative)| {
        let units = units / 10_i128.pow(zeros) * 10_i128.pow(zeros);
        Amount::from_units(if negative { -units } else { units }).unwrap()
    })
}

fn roundings() -> impl Strategy<Value = Rounding> {
    prop_oneof![
        Just(Rounding::HalfAwayFromZero),
        Just(Rounding::Down),
        Just(Rounding::Up)
    ]
}

fn places() -> impl Strategy<Value = DecimalPlaces> {
    (0_i64..=8).prop_map(|places| DecimalPlaces::new(places).unwrap())
}

proptest! {
    #[test]
    fn text_is_lossless(amount in amounts()) {
        prop_assert_eq!(amount.to_string().parse::<Amount>().unwrap(), amount);
        if !amount.is_negative() {
            prop_assert_eq!(Amount::parse(&amount.to_string()).unwrap(), amount);
        }
    }

    #[test]
    fn percent_is_exact(
        a in amounts(), units in 0_i128..=10_000_000_000, dp in places(), r in roundings(),
    ) {
        let text = Amount::from_units(units).unwrap().to_string();
        let got = a.percent(Percent::parse(&text).unwrap(), dp, r);
        let want = expected(a.units(), units, 10_000_000_000, dp.get(), r);
        prop_assert_eq!(got, Amount::from_units(want));
    }

    #[test]
    fn conversion_is_exact(
        a in amounts(), units in 1_i128..10_i128.pow(11), dp in places(), r in roundings(),
    ) {
        let rate = Rate::parse(&Amount::from_units(units).unwrap().to_string()).unwrap();
        let there = expected(a.units(), units, 100_000_000, dp.get(), r);
        prop_assert_eq!(a.at(rate, dp, r), Amount::from_units(there));
        let back = expected(a.units(), 100_000_000, units, dp.get(), r);
        prop_assert_eq!(a.per(rate, dp, r), Amount::from_units(back));
    }

    #[test]
    fn the_debit_of_a_credit_does_not_exceed_the_amount(points in 1_i128..10_i128.pow(15), units in 1_i128..10_i128.pow(11)) {
        let rate = Rate::parse(&Amount::from_units(units).unwrap().to_string()).unwrap();
        let points = Amount::from_units(points).unwrap();
        let covered = points.at(rate, DecimalPlaces::MAX, Rounding::Down).unwrap();
        let debited = covered.per(rate, DecimalPlaces::MAX, Rounding::Up).unwrap();
        prop_assert!(debited <= points);
    }

    #[test]
    fn sums_agree_with_integers(a in amounts(), b in amounts(), n in 0_u64..1_000_000) {
        prop_assert_eq!(a.add(b), Amount::from_units(a.units() + b.units()));
        prop_assert_eq!(a.sub(b), Amount::from_units(a.units() - b.units()));
        prop_assert_eq!(a.times(n), Amount::from_units(a.units() * i128::from(n)));
    }
}
