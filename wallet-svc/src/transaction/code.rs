//! Checks transaction codes: `<feature>` or `<feature>:<method>`. Pure.

use platform::error::{FieldCode, InvalidValue};

use super::model::TransactionType;
use crate::{
    asset::{directory::ResolvedAsset, model::AssetType},
    payment_method::model::{Feature, PaymentMethods},
};

/// Checks the code of a new transaction.
pub(crate) fn check_code(
    kind: TransactionType,
    code: &str,
    asset: Option<&ResolvedAsset>,
    methods: &PaymentMethods,
) -> Result<(), InvalidValue> {
    match kind {
        TransactionType::Deposit => check_deposit(code, asset, methods),
        TransactionType::Transfer | TransactionType::Exchange => one_of(code, &["internal"]),
        TransactionType::Withdrawal => one_of(code, &["bank:wire", "internal"]),
    }
}

fn check_deposit(
    code: &str,
    asset: Option<&ResolvedAsset>,
    methods: &PaymentMethods,
) -> Result<(), InvalidValue> {
    let (feature, method) = code.split_once(':').unwrap_or_default();
    match (Feature::find(feature), method) {
        (Some(_), "") => Err(InvalidValue::new(
            FieldCode::Format,
            "needs a method after the colon",
        )),
        // The method is the name of a network.
        (Some(Feature::Crypto), _) if asset.is_some_and(is_crypto) => Ok(()),
        (Some(feature), slug) => check_method(feature, slug, asset, methods),
        (None, _) => one_of(
            code,
            &[
                "apm:<method>",
                "bank:wire",
                "card:<method>",
                "crypto:<method>",
                "internal",
            ],
        ),
    }
}

fn is_crypto(asset: &ResolvedAsset) -> bool {
    asset.kind == Some(AssetType::Crypto)
}

fn check_method(
    feature: Feature,
    slug: &str,
    asset: Option<&ResolvedAsset>,
    methods: &PaymentMethods,
) -> Result<(), InvalidValue> {
    let method = methods.for_deposit(feature, slug).ok_or_else(|| {
        let message = format!("no enabled payment method {slug} accepts it");
        InvalidValue::new(FieldCode::UnknownReference, message)
    })?;
    match asset {
        Some(asset) if !method.accepts(asset.code.as_str()) => {
            let accepted = method.assets.join(", ");
            let message = format!("the payment method {slug} accepts only {accepted}");
            Err(InvalidValue::new(FieldCode::Enum, message))
        }
        _ => Ok(()),
    }
}

/// Returns whether a transaction with this code may skip `pending`.
pub(crate) fn allows_commit(code: &str) -> bool {
    let feature = code.split(':').next().unwrap_or_default();
    matches!(feature, "crypto" | "bank" | "internal")
}

fn one_of(code: &str, allowed: &[&str]) -> Result<(), InvalidValue> {
    // `apm:<method>` is in the message only.
    if !code.contains('<') && allowed.contains(&code) {
        return Ok(());
    }
    let message = format!("must be one of {}", allowed.join(", "));
    Err(InvalidValue::new(FieldCode::Enum, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        asset::model::AssetCode,
        payment_method::model::{PaymentMethod, tests::method},
    };

    fn asset(code: &str, kind: AssetType) -> ResolvedAsset {
        ResolvedAsset {
            code: AssetCode::stored(code),
            kind: Some(kind),
        }
    }

    fn checked(kind: TransactionType, code: &str, asset: &ResolvedAsset) -> Result<(), FieldCode> {
        let stripe = PaymentMethod {
            assets: vec!["EUR".to_owned()],
            ..method("stripe")
        };
        let paypal = PaymentMethod {
            features: vec![Feature::Apm, Feature::Crypto],
            ..method("paypal")
        };
        let off = PaymentMethod {
            enabled: false,
            ..method("off")
        };
        let methods = PaymentMethods::new(vec![stripe, paypal, off]);
        check_code(kind, code, Some(asset), &methods).map_err(|invalid| invalid.code)
    }

    #[test]
    fn each_transaction_type_has_its_codes() {
        use FieldCode::{Enum, Format, UnknownReference};
        use TransactionType::{Deposit, Transfer, Withdrawal};
        let (usd, eur) = (asset("usd", AssetType::Fiat), asset("eur", AssetType::Fiat));
        let btc = asset("btc", AssetType::Crypto);
        for (kind, code, asset, expected) in [
            (Deposit, "internal", &usd, Ok(())),
            (Deposit, "bank:wire", &usd, Ok(())),
            (Deposit, "crypto:bitcoin", &btc, Ok(())),
            (Deposit, "crypto:bitcoin", &usd, Err(UnknownReference)),
            (Deposit, "crypto:paypal", &usd, Ok(())),
            (Deposit, "crypto:", &btc, Err(Format)),
            (Deposit, "crypto", &btc, Err(Enum)),
            (Deposit, "card:stripe", &eur, Ok(())),
            (Deposit, "card:stripe", &usd, Err(Enum)),
            (Deposit, "apm:stripe", &eur, Err(UnknownReference)),
            (Deposit, "apm:paypal", &usd, Ok(())),
            (Deposit, "card:paypal", &usd, Err(UnknownReference)),
            (Deposit, "card:off", &usd, Err(UnknownReference)),
            (Deposit, "card:", &usd, Err(Format)),
            (Deposit, "apm:<method>", &usd, Err(UnknownReference)),
            (Deposit, "INTERNAL", &usd, Err(Enum)),
            (Deposit, "internal:x", &usd, Err(Enum)),
            (Deposit, "bank", &usd, Err(Enum)),
            (Deposit, "pay", &usd, Err(Enum)),
            (Deposit, "", &usd, Err(Enum)),
            (Transfer, "internal", &usd, Ok(())),
            (Transfer, "pay", &usd, Err(Enum)),
            (Transfer, "bank:wire", &usd, Err(Enum)),
            (Withdrawal, "bank:wire", &usd, Ok(())),
            (Withdrawal, "internal", &usd, Ok(())),
            (Withdrawal, "crypto:bitcoin", &btc, Err(Enum)),
            (Withdrawal, "card:stripe", &eur, Err(Enum)),
        ] {
            assert_eq!(checked(kind, code, asset), expected, "{kind:?} {code}");
        }
    }

    #[test]
    fn crypto_bank_and_internal_may_skip_pending() {
        assert!(allows_commit("bank:wire") && allows_commit("crypto:x"));
        assert!(!allows_commit("card:x") && !allows_commit("apm:x"));
    }
}
