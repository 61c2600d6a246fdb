//! Checks a new exchange and calculates what it credits at the current rate. Pure.

use platform::{
    error::{Code, Failure, FieldCode, Violations},
    money::{Amount, Conversion, DecimalPlaces},
};

use super::{
    metadata::Metadata,
    model::{Notes, Sides, Status, TransactionId, TransactionType},
    new::check_notes,
};
use crate::{
    asset::model::AssetCode,
    error::{FieldNames, ledger_failure},
    fields,
    ledger::{Create, Exchange, LedgerError},
    wallet::model::{UserId, WalletId},
};

/// A new exchange as the request has it.
#[derive(Debug, Clone)]
pub(crate) struct NewExchange {
    pub(crate) wallet: String,
    /// Code of the asset debited, in any case.
    pub(crate) base_asset_code: String,
    /// Code of the asset credited, in any case.
    pub(crate) quote_asset_code: String,
    pub(crate) base_amount: String,
    pub(crate) notes: Notes,
}

/// The assets and the rate of an exchange, as far as they exist.
#[derive(Debug, Clone)]
pub(crate) struct Terms {
    pub(crate) base: Option<AssetCode>,
    pub(crate) quote: Option<QuoteAsset>,
    pub(crate) conversion: Option<Conversion>,
}

/// The asset credited.
#[derive(Debug, Clone)]
pub(crate) struct QuoteAsset {
    pub(crate) code: AssetCode,
    pub(crate) decimal_places: DecimalPlaces,
}

impl NewExchange {
    /// Returns the ledger's command, or everything that is wrong with the request. With an `owner`,
    /// the wallet must be theirs.
    pub(crate) fn check(
        self,
        id: TransactionId,
        terms: Terms,
        owner: Option<UserId>,
    ) -> Result<Exchange, Failure> {
        let mut violations = Violations::default();
        let wallet = violations.value("walletId", WalletId::parse(&self.wallet));
        let amount = violations.value("baseAmount", Amount::parse_positive(&self.base_amount));
        let assets = check_assets(&mut violations, terms.base, terms.quote);
        check_notes(&mut violations, &self.notes);
        let (Some(wallet), Some(amount), Some((base, quote)), true) =
            (wallet, amount, assets, violations.is_empty())
        else {
            return Err(violations.into_failure());
        };
        let conversion = terms
            .conversion
            .ok_or_else(|| no_rate(&base, &quote.code))?;
        let credited = credited(amount, &conversion, &quote)?;
        Ok(Exchange {
            base: Create {
                id,
                kind: TransactionType::Exchange,
                code: "internal".to_owned(),
                asset: base,
                amount,
                sides: both_sides(wallet),
                status: Status::Confirmed,
                notes: self.notes,
                metadata: metadata(&conversion, credited, &quote.code),
                owner,
            },
            quote_asset: quote.code,
            quote_amount: credited,
        })
    }
}

/// Returns the two assets if both exist and they differ.
fn check_assets(
    violations: &mut Violations,
    base: Option<AssetCode>,
    quote: Option<QuoteAsset>,
) -> Option<(AssetCode, QuoteAsset)> {
    let base = violations.value("baseAssetCode", fields::existing_asset(base));
    let quote = violations.value("quoteAssetCode", fields::existing_asset(quote));
    let (base, quote) = base.zip(quote)?;
    let message = "must differ from baseAssetCode";
    violations.check(
        "quoteAssetCode",
        base != quote.code,
        FieldCode::Duplicate,
        message,
    );
    Some((base, quote))
}

fn both_sides(wallet: WalletId) -> Sides {
    Sides {
        debit: wallet,
        credit: wallet,
    }
}

fn no_rate(base: &AssetCode, quote: &AssetCode) -> Failure {
    let text = format!("there is no rate from {base} to {quote}");
    Failure::new(Code::NoRate, text)
}

fn credited(
    amount: Amount,
    conversion: &Conversion,
    quote: &QuoteAsset,
) -> Result<Amount, Failure> {
    let credited = conversion
        .credited(amount, quote.decimal_places)
        .map_err(|error| failure(error.into(), &quote.code))?;
    if credited.is_positive() {
        return Ok(credited);
    }
    let message = "the amount rounds to zero at the current rate";
    Err(Failure::invalid("baseAmount", FieldCode::Range, message))
}

fn metadata(conversion: &Conversion, credited: Amount, quote: &AssetCode) -> Metadata {
    let inverse = if conversion.inverse { "true" } else { "false" };
    Metadata::default()
        .with_text("rate", &conversion.rate.to_string())
        .with_raw("rateInverse", inverse)
        .with_text("quoteAmount", &credited.to_string())
        .with_text("quoteAssetCode", quote.as_str())
}

/// Returns the public failure of a rejected exchange into `quote`.
pub(crate) fn failure(error: LedgerError, quote: &AssetCode) -> Failure {
    let asset = match &error {
        LedgerError::AssetNotFound(asset) | LedgerError::AssetDisabled(asset) if asset == quote => {
            "quoteAssetCode"
        }
        _ => "baseAssetCode",
    };
    let names = FieldNames {
        amount: "baseAmount",
        asset,
        origin: "walletId",
        destination: "walletId",
    };
    ledger_failure(error, names)
}

#[cfg(test)]
mod tests {
    use platform::money::Rate;

    use super::*;

    const WALLET: &str = "01920000-0000-7000-8000-00000000000a";

    fn exchange(amount: &str) -> NewExchange {
        NewExchange {
            wallet: WALLET.to_owned(),
            base_asset_code: "usd".to_owned(),
            quote_asset_code: "points".to_owned(),
            base_amount: amount.to_owned(),
            notes: Notes::default(),
        }
    }

    fn terms(quote: &str, rate: Option<(&str, bool)>) -> Terms {
        Terms {
            base: Some(AssetCode::stored("usd")),
            quote: Some(QuoteAsset {
                code: AssetCode::stored(quote),
                decimal_places: DecimalPlaces::new(2).unwrap(),
            }),
            conversion: rate.map(|(rate, inverse)| Conversion {
                rate: Rate::parse(rate).unwrap(),
                inverse,
            }),
        }
    }

    fn check(exchange: NewExchange, terms: Terms) -> Result<Exchange, Failure> {
        let id = TransactionId::parse("01920000-0000-7000-8000-000000000001").unwrap();
        exchange.check(id, terms, None)
    }

    fn fields(result: Result<Exchange, Failure>) -> Vec<(String, FieldCode)> {
        let fields = result.unwrap_err().fields.into_iter();
        fields.map(|field| (field.field, field.code)).collect()
    }

    #[test]
    fn the_credited_amount_is_rounded_down_to_the_quote_assets_decimals() {
        for (amount, rate, inverse, expected) in [
            ("1.01", "33.333", false, "33.66000000"),
            ("0.03", "3", true, "0.01000000"),
            ("10", "3", true, "3.33000000"),
        ] {
            let terms = terms("points", Some((rate, inverse)));
            let exchange = check(exchange(amount), terms).unwrap();
            assert_eq!(exchange.quote_amount.to_string(), expected, "{amount}");
            assert_eq!(exchange.base.status, Status::Confirmed);
            assert_eq!(exchange.base.sides.debit, exchange.base.sides.credit);
        }
    }

    #[test]
    fn an_amount_that_rounds_to_zero_is_refused() {
        let zero = check(exchange("0.01"), terms("points", Some(("0.4", false))));
        let failure = zero.unwrap_err();
        assert_eq!(
            failure.detail,
            "baseAmount: the amount rounds to zero at the current rate"
        );
    }

    #[test]
    fn a_pair_without_a_rate_is_refused() {
        let failure = check(exchange("1"), terms("points", None)).unwrap_err();
        assert_eq!(failure.code, Code::NoRate);
        assert_eq!(failure.detail, "there is no rate from usd to points");
    }

    #[test]
    fn every_violation_is_reported() {
        let bad = NewExchange {
            wallet: "w".to_owned(),
            notes: Notes {
                description: Some("x".repeat(1_001)),
                ..Notes::default()
            },
            ..exchange("0")
        };
        let missing = Terms {
            base: None,
            quote: None,
            conversion: None,
        };
        let expected = [
            ("walletId", FieldCode::Format),
            ("baseAmount", FieldCode::Range),
            ("baseAssetCode", FieldCode::UnknownReference),
            ("quoteAssetCode", FieldCode::UnknownReference),
            ("description", FieldCode::Length),
        ];
        let expected = expected.map(|(field, code)| (field.to_owned(), code));
        assert_eq!(fields(check(bad, missing)), expected);

        let same = check(exchange("1"), terms("usd", Some(("1", false))));
        let expected = [("quoteAssetCode".to_owned(), FieldCode::Duplicate)];
        assert_eq!(fields(same), expected);
    }

    #[test]
    fn ledger_errors_name_the_fields_of_the_exchange() {
        let points = AssetCode::stored("points");
        for (asset, field) in [("points", "quoteAssetCode"), ("usd", "baseAssetCode")] {
            let disabled = LedgerError::AssetDisabled(AssetCode::stored(asset));
            assert_eq!(failure(disabled, &points).fields[0].field, field);
        }
    }
}
