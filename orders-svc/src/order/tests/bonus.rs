//! Bonuses in another asset than the order's.

use platform::money::{Conversion, Rate};
use proptest::prelude::*;

use super::{super::bonus::cover, super::payment::Payment, *};

fn at(rate: &str, inverse: bool) -> Conversion {
    let rate = Rate::parse(rate).unwrap();
    Conversion { rate, inverse }
}

fn points(places: i64, earned_at: Option<Conversion>) -> BonusAsset {
    BonusAsset {
        code: "points".to_owned(),
        decimal_places: DecimalPlaces::new(places).unwrap(),
        earned_at,
    }
}

#[test]
fn without_a_rate_it_is_skipped_and_says_so() {
    let points = points(2, None);
    let skipped = order(&[(quote("10", "0", "1"), 1)], Some(&points)).order;
    assert_eq!(
        (skipped.bonus, skipped.bonus_asset_code.as_str()),
        (Amount::ZERO, "points")
    );
    assert_eq!(skipped.bonus_skipped.as_deref(), Some("rate_not_found"));
    let without = order(&[(quote("10", "0", "0"), 1)], Some(&points)).order;
    assert_eq!(without.bonus_skipped, None);
    let own = order(&[(quote("10", "0", "1"), 1)], None).order;
    assert_eq!((own.bonus, own.bonus_skipped), (amount("1"), None));
    assert_eq!(own.bonus_asset_code, "usd");
}

#[test]
fn it_is_converted_by_unit_half_away_from_zero() {
    for (conversion, places, bonus, unit) in [
        (at("10", false), 0, "0.25", "3"),
        (at("10", false), 0, "0.24", "2"),
        (at("10", false), 1, "0.25", "2.5"),
        (at("0.03", true), 2, "0.25", "8.33"),
        (at("0.03", true), 0, "0.25", "8"),
    ] {
        let points = points(places, Some(conversion));
        let placed = order(&[(quote("10", "0", bonus), 3)], Some(&points));
        let line = &placed.lines[0];
        assert_eq!(line.unit_bonus, amount(unit), "{bonus}");
        assert_eq!(line.bonus_asset_code, "points");
        assert_eq!(placed.order.bonus, amount(unit).times(3).unwrap());
        assert_eq!(placed.order.bonus_skipped, None);
    }
}

#[test]
fn its_share_is_taken_back_in_its_own_decimals() {
    let points = points(0, Some(at("10", false)));
    let mut placed = order(&[(quote("5", "0", "0.7"), 1)], Some(&points));
    // 5 for shipping; the bonus is 7 points.
    let payment = payment(&mut placed, "usd", "10", None);
    let cancellation = placed.cancellation(&[payment], Some(amount("5")), None);
    assert_eq!(cancellation.unwrap().bonus_revoked, amount("4"));
}

fn payment(
    placed: &mut OrderWithLines,
    asset_code: &str,
    paid: &str,
    covers: Option<&str>,
) -> Payment {
    let ids = Ids::system();
    let covers = covers.map(amount);
    let order = &mut placed.order;
    order.paid_amount = order
        .paid_amount
        .add(covers.unwrap_or(amount(paid)))
        .unwrap();
    order.cover(now());
    Payment {
        transaction_id: ids.next(),
        claim: 1,
        leg: i32::from(asset_code == "usd"),
        wallet_id: ids.next(),
        asset_code: asset_code.to_owned(),
        amount: amount(paid),
        covers,
        refunded_amount: Amount::ZERO,
    }
}

#[test]
fn a_part_goes_back_in_proportion_and_all_of_it_whole() {
    let points = points(0, None);
    let mut placed = order(&[(quote("5", "0", "0"), 1)], Some(&points));
    let paid = [
        payment(&mut placed, "points", "100", Some("3")),
        payment(&mut placed, "usd", "7", None),
    ];
    for (refund, legs) in [
        (
            "10",
            &[("usd", "7", None), ("points", "100", Some("3"))][..],
        ),
        ("8", &[("usd", "7", None), ("points", "33", Some("1"))]),
        // Too little for a point.
        ("7.02", &[("usd", "7", None)]),
        ("6.5", &[("usd", "6.5", None)]),
    ] {
        let cancellation = placed
            .cancellation(&paid, Some(amount(refund)), None)
            .unwrap();
        let given = cancellation.legs.iter();
        let given = given.map(|leg| (leg.asset_code.as_str(), leg.amount, leg.covers));
        let legs = legs.iter();
        let legs = legs.map(|(asset, back, covers)| (*asset, amount(back), covers.map(amount)));
        assert!(given.eq(legs), "{refund}: {:?}", cancellation.legs);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn a_balance_never_pays_more_than_it_is_worth(
        rate in 1_i128..10_i128.pow(12), inverse: bool, balance in 0_i128..10_i128.pow(16),
        owed in 0_i128..10_i128.pow(16), from in 0_i64..=8, to in 0_i64..=8,
    ) {
        let units = |units| Amount::from_units(units).unwrap();
        let places = |places| DecimalPlaces::new(places).unwrap();
        let (from, to) = (places(from), places(to));
        let whole = |amount: Amount, places| amount.round(places, Rounding::Down).unwrap();
        let (balance, owed) = (whole(units(balance), from), whole(units(owed), to));
        let conversion = at(&units(rate).to_string(), inverse);
        let covered = cover(conversion, balance, owed, to);
        prop_assert!(covered <= owed && covered.fits(to));
        let debited = conversion.debited(covered, from).unwrap();
        prop_assert!(debited <= balance && debited.fits(from));
        // What is taken is worth at least what it covers.
        prop_assert!(cover(conversion, debited, owed, to) >= covered);
    }
}
