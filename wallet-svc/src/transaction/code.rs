//! Transaction codes, `<feature>` or `<feature>:<method>`, and which of them are allowed where. Pure.

use platform::error::{FieldCode, InvalidValue};

use super::model::TransactionType;
use crate::asset::model::AssetType;

/// Checks the code of a new transaction.
pub fn check_code(
    kind: TransactionType,
    code: &str,
    asset: Option<AssetType>,
) -> Result<(), InvalidValue> {
    match kind {
        TransactionType::Deposit => check_deposit(code, asset),
        TransactionType::Transfer | TransactionType::Exchange => one_of(code, &["internal"]),
        TransactionType::Withdrawal => one_of(code, &["bank:wire", "internal"]),
    }
}

fn check_deposit(code: &str, asset: Option<AssetType>) -> Result<(), InvalidValue> {
    match code.split_once(':') {
        Some(("apm" | "card" | "crypto", "")) => Err(InvalidValue::new(
            FieldCode::Format,
            "needs a method after the colon",
        )),
        Some(("crypto", _)) if asset == Some(AssetType::Crypto) => Ok(()),
        Some(("apm" | "card" | "crypto", method)) => Err(InvalidValue::new(
            FieldCode::UnknownReference,
            format!("there is no enabled payment method {method} for it"),
        )),
        _ => one_of(
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

/// Whether a transaction of this code may skip `pending`.
pub fn allows_commit(code: &str) -> bool {
    let feature = code.split(':').next().unwrap_or_default();
    matches!(feature, "crypto" | "bank" | "internal")
}

fn one_of(code: &str, allowed: &[&str]) -> Result<(), InvalidValue> {
    let is_literal = |allowed: &&&str| !allowed.contains('<');
    if allowed.iter().filter(is_literal).any(|one| *one == code) {
        return Ok(());
    }
    let message = format!("must be one of {}", allowed.join(", "));
    Err(InvalidValue::new(FieldCode::Enum, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_belong_to_their_kind() {
        use AssetType::{Crypto, Fiat};
        use TransactionType::{Deposit, Transfer, Withdrawal};
        for (kind, code, asset, allowed) in [
            (Deposit, "internal", Fiat, true),
            (Deposit, "bank:wire", Fiat, true),
            (Deposit, "crypto:bitcoin", Crypto, true),
            (Deposit, "crypto:bitcoin", Fiat, false),
            (Deposit, "crypto:", Crypto, false),
            (Deposit, "crypto", Crypto, false),
            (Deposit, "card:stripe", Fiat, false),
            (Deposit, "apm:<method>", Fiat, false),
            (Deposit, "INTERNAL", Fiat, false),
            (Deposit, "internal:x", Fiat, false),
            (Deposit, "bank", Fiat, false),
            (Deposit, "pay", Fiat, false),
            (Deposit, "", Fiat, false),
            (Transfer, "internal", Fiat, true),
            (Transfer, "pay", Fiat, false),
            (Transfer, "bank:wire", Fiat, false),
            (Withdrawal, "bank:wire", Fiat, true),
            (Withdrawal, "internal", Fiat, true),
            (Withdrawal, "crypto:bitcoin", Crypto, false),
        ] {
            let checked = check_code(kind, code, Some(asset));
            assert_eq!(checked.is_ok(), allowed, "{kind:?} {code}");
        }
        assert!(allows_commit("bank:wire") && allows_commit("crypto:x"));
        assert!(!allows_commit("card:x") && !allows_commit("apm:x"));
    }
}
