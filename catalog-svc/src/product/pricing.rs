//! The price of a product, its tax and its bonus, exact at the asset's decimals.

use platform::money::{Amount, DecimalPlaces, Percent, Rounding};

use crate::{clients::wallet::Asset, error::Error};

/// The asset of a price, with the fields that prices need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PricingAsset {
    /// In wallet-svc's case.
    pub(crate) code: String,
    /// Amounts have at most these.
    pub(crate) decimal_places: DecimalPlaces,
}

impl From<Asset> for PricingAsset {
    fn from(asset: Asset) -> Self {
        Self {
            code: asset.code,
            decimal_places: asset.decimal_places,
        }
    }
}

/// The price of one unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pricing {
    /// The asset of price and bonus.
    pub(crate) asset: PricingAsset,
    /// Net, below 10¹⁹.
    pub(crate) price: Amount,
    /// The buyer's reward, below 10¹⁹.
    pub(crate) bonus: Amount,
    /// `None`: no tax.
    pub(crate) tax_rate: Option<Percent>,
}

impl Pricing {
    /// Computes round(price × rate / 100), half away from zero, at the asset's decimals.
    pub(crate) fn tax(&self) -> Amount {
        let rate = self.tax_rate.unwrap_or(Percent::ZERO);
        self.price
            .percent(rate, self.asset.decimal_places, Rounding::HalfAwayFromZero)
            .expect("a rate is at most 100 percent and a price below 10^19")
    }

    /// Computes the price that a buyer pays for one unit.
    pub(crate) fn price_with_tax(&self) -> Amount {
        self.price
            .add(self.tax())
            .expect("a price and a tax below 10^19 make less than 10^20")
    }

    /// Refuses a price or bonus with more decimals than the asset.
    pub(crate) fn check_precision(&self) -> Result<(), Error> {
        let imprecise = [("price", self.price), ("bonus", self.bonus)]
            .into_iter()
            .find(|(_, amount)| !amount.fits(self.asset.decimal_places));
        match imprecise {
            None => Ok(()),
            Some((field, _)) => Err(Error::Precision {
                field,
                asset_code: self.asset.code.clone(),
                places: self.asset.decimal_places,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use num_rational::BigRational;
    use proptest::prelude::*;

    use super::*;

    fn pricing(price: &str, rate: Option<&str>, places: i64) -> Pricing {
        Pricing {
            asset: PricingAsset {
                code: "usd".into(),
                decimal_places: DecimalPlaces::new(places).unwrap(),
            },
            price: Amount::parse(price).unwrap(),
            bonus: Amount::ZERO,
            tax_rate: rate.map(|rate| Percent::parse(rate).unwrap()),
        }
    }

    #[test]
    fn tax_is_rounded_half_away_from_zero_at_the_assets_decimals() {
        for (price, rate, places, tax, with_tax) in [
            ("24.99", Some("10.75"), 2, "2.69000000", "27.68000000"),
            ("10.50", Some("5"), 2, "0.53000000", "11.03000000"),
            ("10.49", Some("5"), 2, "0.52000000", "11.01000000"),
            ("10.50", Some("5"), 0, "1.00000000", "11.50000000"),
            ("0.00000001", Some("50"), 8, "0.00000001", "0.00000002"),
            (
                "0.00000001",
                Some("49.99999999"),
                8,
                "0.00000000",
                "0.00000001",
            ),
            ("19.90", None, 2, "0.00000000", "19.90000000"),
            ("19.90", Some("0"), 2, "0.00000000", "19.90000000"),
            (
                "9999999999999999999.99999999",
                Some("100"),
                8,
                "9999999999999999999.99999999",
                "19999999999999999999.99999998",
            ),
        ] {
            let pricing = pricing(price, rate, places);
            assert_eq!(pricing.tax().to_string(), tax, "{price} at {rate:?}");
            assert_eq!(pricing.price_with_tax().to_string(), with_tax);
        }
    }

    #[test]
    fn decimals_beyond_those_of_the_asset_are_refused_unless_zero() {
        assert!(pricing("24.99000000", None, 2).check_precision().is_ok());
        let refused = pricing("24.999", None, 2).check_precision();
        assert!(matches!(
            refused,
            Err(Error::Precision { field: "price", .. })
        ));
        let bonus = Pricing {
            bonus: Amount::parse("0.5").unwrap(),
            ..pricing("1", None, 0)
        };
        assert!(matches!(
            bonus.check_precision(),
            Err(Error::Precision { field: "bonus", .. })
        ));
    }

    fn rational(units: u128) -> BigRational {
        format!("{units}/100000000").parse().unwrap()
    }

    /// Computes the definition in rationals: price × rate / 100 at these decimals.
    fn rational_tax(price: u128, rate: u128, places: u32) -> BigRational {
        let unit: BigRational = format!("1/{}", 10_u64.pow(places)).parse().unwrap();
        let percent: BigRational = "1/100".parse().unwrap();
        // `round` of num-rational rounds half away from zero.
        (rational(price) * rational(rate) * percent / &unit).round() * unit
    }

    /// Returns the number of a text with 8 decimals.
    fn read(amount: Amount) -> BigRational {
        format!("{}/100000000", amount.to_string().replace('.', ""))
            .parse()
            .unwrap()
    }

    fn shown(units: u128) -> String {
        format!("{}.{:08}", units / 100_000_000, units % 100_000_000)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100_000))]

        #[test]
        fn tax_equals_that_in_rationals(
            units in prop_oneof![0..100_000_u128, 0..10_u128.pow(14), 0..10_u128.pow(27)],
            rate in prop_oneof![
                (0..=100_u128).prop_map(|percent| percent * 100_000_000),
                (0..=10_000_u128).prop_map(|percent| percent * 1_000_000),
                0..=10_000_000_000_u128,
            ],
            places in 0..=8_u32,
        ) {
            let step = 10_u128.pow(8 - places);
            let units = units / step * step;
            let pricing = pricing(&shown(units), Some(&shown(rate)), places.into());
            let tax = rational_tax(units, rate, places);
            prop_assert_eq!(read(pricing.tax()), tax.clone());
            prop_assert_eq!(read(pricing.price_with_tax()), rational(units) + tax);
        }
    }
}
