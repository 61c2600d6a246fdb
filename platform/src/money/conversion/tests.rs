//! Comparison of conversions with rational numbers of any size.

use num_bigint::BigInt;
use num_rational::BigRational;
use proptest::prelude::*;

use super::Conversion;
use crate::money::{Amount, DecimalPlaces, Percent, Rate};

/// Units of an amount of 1.
const ONE: i128 = 100_000_000;

fn rational(units: i128) -> BigRational {
    BigRational::new(BigInt::from(units), BigInt::from(ONE))
}

/// Returns the factor from the first asset to the second.
fn factor(conversion: Conversion) -> BigRational {
    let rate = rational(units(&conversion.rate.to_string()));
    if conversion.inverse {
        rate.recip()
    } else {
        rate
    }
}

fn units(text: &str) -> i128 {
    text.parse::<Amount>().unwrap().units()
}

/// Rounds a value to an amount with these decimals; `None` beyond 20 digits.
fn rounded(
    value: &BigRational,
    places: DecimalPlaces,
    round: fn(&BigRational) -> BigRational,
) -> Option<Amount> {
    let step = 10_i128.pow(8 - u32::from(places.get()));
    let steps = round(&(value * rational(ONE * ONE) / rational(step * ONE)));
    let units = steps.to_integer() * BigInt::from(step);
    Amount::from_units(i128::try_from(units).ok()?).ok()
}

fn amounts() -> impl Strategy<Value = Amount> {
    let units = prop_oneof![
        0_i128..10_000,
        0_i128..10_i128.pow(12),
        0_i128..10_i128.pow(18),
        0_i128..10_i128.pow(27)
    ];
    units.prop_map(|units| Amount::from_units(units).unwrap())
}

fn conversions() -> impl Strategy<Value = Conversion> {
    let units = prop_oneof![
        Just(1_i128),
        Just(ONE),
        1_i128..1_000_000,
        1_i128..10_i128.pow(11),
        1_i128..10_i128.pow(27)
    ];
    (units, any::<bool>()).prop_map(|(units, inverse)| {
        let text = Amount::from_units(units).unwrap().to_string();
        let rate = Rate::parse(&text).unwrap();
        Conversion { rate, inverse }
    })
}

fn places() -> impl Strategy<Value = DecimalPlaces> {
    (0_i64..=8).prop_map(|places| DecimalPlaces::new(places).unwrap())
}

/// Truncates an amount to these decimals.
fn truncated(amount: Amount, places: DecimalPlaces) -> Amount {
    let step = 10_i128.pow(8 - u32::from(places.get()));
    Amount::from_units(amount.units() / step * step).unwrap()
}

#[test]
fn credits_round_down_and_debits_round_up_in_either_direction() {
    let amount = |text| Amount::parse(text).unwrap();
    let (cents, whole) = (
        DecimalPlaces::new(2).unwrap(),
        DecimalPlaces::new(0).unwrap(),
    );
    let rate = Rate::parse("3").unwrap();
    let conversion = |inverse| Conversion { rate, inverse };
    let (direct, inverse) = (conversion(false), conversion(true));
    assert_eq!(direct.credited(amount("1.99"), whole), Ok(amount("5")));
    assert_eq!(direct.debited(amount("5"), cents), Ok(amount("1.67")));
    assert_eq!(inverse.credited(amount("5"), cents), Ok(amount("1.66")));
    assert_eq!(inverse.debited(amount("1.66"), whole), Ok(amount("5")));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn conversions_are_exact_and_rounded_once(
        conversion in conversions(), amount in amounts(), places in places(),
    ) {
        let value = rational(amount.units());
        let credited = rounded(&(&value * factor(conversion)), places, BigRational::floor);
        prop_assert_eq!(conversion.credited(amount, places).ok(), credited);
        let debited = rounded(&(&value / factor(conversion)), places, BigRational::ceil);
        prop_assert_eq!(conversion.debited(amount, places).ok(), debited);
    }

    #[test]
    fn a_converted_percentage_is_exact_and_rounded_once(
        conversion in conversions(), amount in amounts(), percent in 0..=100 * ONE,
        places in places(),
    ) {
        let percent_text = Amount::from_units(percent).unwrap().to_string();
        let value = rational(amount.units()) * rational(percent) * factor(conversion)
            / rational(100 * ONE);
        let credited = rounded(&value, places, BigRational::floor);
        let percent = Percent::parse(&percent_text).unwrap();
        prop_assert_eq!(conversion.credited_percent(amount, percent, places).ok(), credited);
    }

    #[test]
    fn a_round_trip_creates_no_value(
        conversion in conversions(), amount in amounts(), from in places(), to in places(),
    ) {
        let amount = truncated(amount, from);
        let back = Conversion { inverse: !conversion.inverse, ..conversion };
        if let Ok(bought) = conversion.credited(amount, to) {
            prop_assert!(back.credited(bought, from).unwrap() <= amount);
            prop_assert!(conversion.debited(bought, from).unwrap() <= amount);
        }
        // The debit for an amount buys at least that amount.
        let wanted = truncated(amount, to);
        if let Ok(paid) = conversion.debited(wanted, from)
            && let Ok(bought) = conversion.credited(paid, to)
        {
            prop_assert!(bought >= wanted);
        }
    }
}
