//! Bonuses in another asset than the order's.

use platform::money::{Conversion, Rate};
use proptest::prelude::*;

use super::{super::bonus::covered_amount, *};

fn conversion(rate: &str, inverse: bool) -> Conversion {
    let rate = Rate::parse(rate).unwrap();
    Conversion { rate, inverse }
}

fn points(places: i64, conversion: Option<Conversion>) -> BonusAsset {
    BonusAsset {
        code: "points".to_owned(),
        decimal_places: DecimalPlaces::new(places).unwrap(),
        conversion,
    }
}

#[test]
fn a_bonus_without_a_rate_is_skipped_with_a_reason() {
    let points = points(2, None);
    let skipped = order(&[(quote("10", "0", "1"), 1)], Some(&points)).order;
    assert_eq!(skipped.bonus, Amount::ZERO);
    assert_eq!(skipped.bonus_asset_code, "points");
    assert_eq!(skipped.bonus_skipped.as_deref(), Some("rate_not_found"));
}

#[test]
fn an_order_without_a_bonus_skips_none() {
    let points = points(2, None);
    let order = order(&[(quote("10", "0", "0"), 1)], Some(&points)).order;
    assert_eq!(order.bonus_skipped, None);
}

#[test]
fn a_bonus_in_the_orders_asset_is_not_converted() {
    let order = order(&[(quote("10", "0", "1"), 1)], None).order;
    assert_eq!(order.bonus, amount("1"));
    assert_eq!(order.bonus_asset_code, "usd");
    assert_eq!(order.bonus_skipped, None);
}

#[test]
fn a_bonus_is_converted_by_unit_and_rounded_half_away_from_zero() {
    struct Case {
        rate: Conversion,
        places: i64,
        unit_bonus: &'static str,
        converted: &'static str,
    }
    for case in [
        Case {
            rate: conversion("10", false),
            places: 0,
            unit_bonus: "0.25",
            converted: "3",
        },
        Case {
            rate: conversion("10", false),
            places: 0,
            unit_bonus: "0.24",
            converted: "2",
        },
        Case {
            rate: conversion("10", false),
            places: 1,
            unit_bonus: "0.25",
            converted: "2.5",
        },
        Case {
            rate: conversion("0.03", true),
            places: 2,
            unit_bonus: "0.25",
            converted: "8.33",
        },
        Case {
            rate: conversion("0.03", true),
            places: 0,
            unit_bonus: "0.25",
            converted: "8",
        },
    ] {
        let points = points(case.places, Some(case.rate));
        let order = order(&[(quote("10", "0", case.unit_bonus), 3)], Some(&points));
        let line = &order.lines[0];
        assert_eq!(line.unit_bonus, amount(case.converted));
        assert_eq!(line.bonus_asset_code, "points");
        assert_eq!(order.order.bonus, amount(case.converted).times(3).unwrap());
        assert_eq!(order.order.bonus_skipped, None);
    }
}

#[test]
fn the_revoked_share_is_rounded_up_at_the_bonus_assets_places() {
    let points = points(0, Some(conversion("10", false)));
    let mut order = order(&[(quote("5", "0", "0.7"), 1)], Some(&points));
    assert_eq!(order.order.bonus, amount("7"));
    let mut payments = Vec::new();
    pay(&mut order, &mut payments, amount("10"));
    let half = order.cancellation(&payments, Some(amount("5")), None);
    assert_eq!(half.unwrap().bonus_revoked, amount("4"));
}

#[test]
fn a_bonus_leg_takes_the_converted_balance() {
    let points = points(0, None);
    let order = order(&[(quote("5", "0", "0"), 1)], Some(&points)).order;
    let leg = order
        .bonus_leg(amount("100"), Some(conversion("0.03", false)))
        .unwrap();
    assert_eq!(leg.asset_code, "points");
    assert_eq!(leg.wallet_id, order.wallet_id);
    assert_eq!(leg.amount, amount("100"));
    assert_eq!(leg.order_amount, Some(amount("3")));
}

#[test]
fn a_bonus_leg_in_the_orders_asset_is_at_most_the_orders_amount() {
    let order = order_of("10").order;
    for (available, taken) in [("100", "10"), ("3.219", "3.21"), ("0", "0")] {
        let leg = order.bonus_leg(amount(available), None).unwrap();
        assert_eq!(leg.amount, amount(taken));
        assert_eq!(leg.order_amount, None);
    }
}

#[test]
fn a_partial_refund_of_points_is_proportional_and_a_whole_one_exact() {
    struct Refunded {
        asset_code: &'static str,
        amount: &'static str,
        order_amount: Option<&'static str>,
    }
    let in_usd = |amount| Refunded {
        asset_code: "usd",
        amount,
        order_amount: None,
    };
    let in_points = |amount, order_amount| Refunded {
        asset_code: "points",
        amount,
        order_amount: Some(order_amount),
    };
    let points = points(0, None);
    let mut order = order(&[(quote("5", "0", "0"), 1)], Some(&points));
    let mut payments = Vec::new();
    let bonus = Leg {
        asset_code: "points".into(),
        amount: amount("100"),
        order_amount: Some(amount("3")),
        ..order.order.payment_leg(order.order.wallet_id, Amount::ZERO)
    };
    record(&mut order, &mut payments, bonus);
    pay(&mut order, &mut payments, amount("7"));
    for (refund, expected) in [
        ("10", vec![in_usd("7"), in_points("100", "3")]),
        ("8", vec![in_usd("7"), in_points("33", "1")]),
        // 0.02 usd are less than one point.
        ("7.02", vec![in_usd("7")]),
        ("6.5", vec![in_usd("6.5")]),
    ] {
        let cancellation = order
            .cancellation(&payments, Some(amount(refund)), None)
            .unwrap();
        assert_eq!(cancellation.legs.len(), expected.len(), "{refund}");
        for (leg, expected) in cancellation.legs.iter().zip(expected) {
            assert_eq!(leg.asset_code, expected.asset_code);
            assert_eq!(leg.amount, amount(expected.amount), "{refund}");
            assert_eq!(leg.order_amount, expected.order_amount.map(amount));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn a_balance_never_pays_more_than_its_value(
        rate in 1_i128..10_i128.pow(12), inverse: bool, balance in 0_i128..10_i128.pow(16),
        owed in 0_i128..10_i128.pow(16), from in 0_i64..=8, to in 0_i64..=8,
    ) {
        let units = |units| Amount::from_units(units).unwrap();
        let places = |places| DecimalPlaces::new(places).unwrap();
        let (from, to) = (places(from), places(to));
        let whole = |amount: Amount, places| amount.round(places, Rounding::Down).unwrap();
        let (balance, owed) = (whole(units(balance), from), whole(units(owed), to));
        let conversion = conversion(&units(rate).to_string(), inverse);
        let covered = covered_amount(conversion, balance, owed, to);
        prop_assert!(covered <= owed && covered.fits(to));
        let debited = conversion.debited(covered, from).unwrap();
        prop_assert!(debited <= balance && debited.fits(from));
        // The debit is worth at least what it covers.
        prop_assert!(covered_amount(conversion, debited, owed, to) >= covered);
    }
}
