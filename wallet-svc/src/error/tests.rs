use platform::money::DecimalPlaces;

use super::*;
use crate::{
    asset::model::AssetCode,
    ledger::AccountKey,
    transaction::model::{Action, Status, TransactionId},
    wallet::model::{EXTERNAL, WalletId},
};

/// The parts of a failure that clients see.
#[derive(Debug, PartialEq)]
struct Public {
    code: Code,
    text: String,
    /// Its first field, with the field's code.
    field: Option<Field>,
}

#[derive(Debug, PartialEq)]
struct Field {
    name: String,
    code: FieldCode,
}

impl Public {
    fn new(code: Code, text: impl Into<String>) -> Self {
        Self {
            code,
            text: text.into(),
            field: None,
        }
    }

    fn about(self, name: &str, code: impl Into<FieldCode>) -> Self {
        let (name, code) = (name.to_owned(), code.into());
        Self {
            field: Some(Field { name, code }),
            ..self
        }
    }
}

fn public(error: impl Into<Failure>) -> Public {
    let failure = error.into();
    Public {
        code: failure.code,
        text: failure.detail,
        field: failure.fields.into_iter().next().map(|field| Field {
            name: field.field,
            code: field.code,
        }),
    }
}

/// Returns the failure of a request whose only violation is this field.
fn invalid(name: &str, code: FieldCode, text: &str) -> Public {
    Public::new(Code::ValidationFailed, format!("{name}: {text}")).about(name, code)
}

#[test]
fn missing_resources_have_one_text() {
    for (error, code, text) in [
        (
            Error::WalletNotFound,
            Code::WalletNotFound,
            "wallet not found",
        ),
        (Error::AssetNotFound, Code::AssetNotFound, "asset not found"),
        (
            Error::AddressNotFound,
            Code::AddressNotFound,
            "address not found",
        ),
        (Error::RateNotFound, Code::RateNotFound, "rate not found"),
        (
            Error::TransactionNotFound,
            Code::TransactionNotFound,
            "transaction not found",
        ),
        (
            Error::MovementNotFound,
            Code::MovementNotFound,
            "movement not found",
        ),
        (
            Error::PaymentMethodNotFound,
            Code::PaymentMethodNotFound,
            "payment method not found",
        ),
        (
            Error::OperationNotFound,
            Code::TransactionNotFound,
            "operation not found",
        ),
    ] {
        assert_eq!(public(error), Public::new(code, text));
    }
}

#[test]
fn conflicts_name_their_field() {
    for (error, code, name) in [
        (Error::CodeTaken, Code::CodeTaken, Some("code")),
        (Error::OwnerIsFixed, Code::InvalidState, Some("ownerId")),
        (Error::AssetReadOnly, Code::AssetReadOnly, None),
        (
            Error::DecimalPlacesInUse,
            Code::DecimalPlacesInUse,
            Some("decimalPlaces"),
        ),
        (Error::RateExists, Code::RateExists, None),
        (Error::NoRate, Code::NoRate, None),
    ] {
        let expected = Public::new(code, error.to_string());
        let expected = match name {
            Some(name) => expected.about(name, code),
            None => expected,
        };
        assert_eq!(public(error), expected);
    }
}

#[test]
fn invalid_references_of_a_command_name_the_field_of_the_request() {
    let usd = || AssetCode::stored("usd");
    let wallet = WalletId::parse("01920000-0000-7000-8000-00000000000a").unwrap();
    for (error, name, code) in [
        (
            LedgerError::WalletNotFound(Side::Origin),
            "originWalletId",
            FieldCode::UnknownReference,
        ),
        (
            LedgerError::WalletNotFound(Side::Destination),
            "destinationWalletId",
            FieldCode::UnknownReference,
        ),
        (
            LedgerError::SameWallet,
            "destinationWalletId",
            FieldCode::Duplicate,
        ),
        (
            LedgerError::AssetNotFound(usd()),
            "assetCode",
            FieldCode::UnknownReference,
        ),
        (
            LedgerError::PartNotFound(3),
            "parts",
            FieldCode::UnknownReference,
        ),
    ] {
        let expected = invalid(name, code, &error.to_string());
        assert_eq!(public(error), expected);
    }
    let locked = public(LedgerError::WalletLocked(wallet));
    let text = format!("wallet {wallet} is locked");
    assert_eq!(locked, Public::new(Code::WalletLocked, text));
}

#[test]
fn rejected_amounts_name_the_amount() {
    let usd = || AssetCode::stored("usd");
    let precision = LedgerError::Precision {
        asset: usd(),
        places: DecimalPlaces::new(2).unwrap(),
    };
    let expected = Public::new(Code::AmountPrecision, "usd has at most 2 decimals");
    let expected = expected.about("amount", FieldCode::Precision);
    assert_eq!(public(precision), expected);

    let account = AccountKey::new(EXTERNAL, &usd());
    let funds = LedgerError::InsufficientFunds {
        account,
        available: "1".parse().unwrap(),
        needed: "2".parse().unwrap(),
    };
    let text = format!("wallet {EXTERNAL} has 1.00000000 usd available, 2.00000000 needed");
    let expected =
        Public::new(Code::InsufficientFunds, text).about("amount", Code::InsufficientFunds);
    assert_eq!(public(funds), expected);

    let disabled = LedgerError::AssetDisabled(usd());
    let expected = Public::new(Code::AssetDisabled, "asset usd is disabled");
    let expected = expected.about("assetCode", Code::AssetDisabled);
    assert_eq!(public(disabled), expected);

    let exceeds = LedgerError::RefundExceeds("2".parse().unwrap());
    let expected = Public::new(
        Code::RefundExceedsPaid,
        "at most 2.00000000 can be refunded",
    );
    let expected = expected.about("parts", Code::RefundExceedsPaid);
    assert_eq!(public(exceeds), expected);
}

#[test]
fn rejected_actions_name_the_status() {
    let id = TransactionId::parse("01920000-0000-7000-8000-000000000001").unwrap();
    let state = LedgerError::InvalidState {
        status: Status::Failed,
        action: Action::Confirm,
    };
    for (error, code, text) in [
        (
            state,
            Code::InvalidState,
            "cannot confirm a transaction that is failed",
        ),
        (
            LedgerError::NotCaptured(Status::Processing),
            Code::InvalidState,
            "the operation is processing, there is nothing to refund",
        ),
        (
            LedgerError::TransactionNotFound(id),
            Code::TransactionNotFound,
            "transaction not found",
        ),
        (
            LedgerError::OperationNotFound,
            Code::TransactionNotFound,
            "operation not found",
        ),
        (
            LedgerError::OperationLate,
            Code::Unavailable,
            "the operation's time is over",
        ),
        (
            LedgerError::OperationExpired,
            Code::OperationExpired,
            "the operation's time is over, it had no effect",
        ),
        (
            LedgerError::OperationReused,
            Code::IdempotencyKeyReused,
            "the operation id was used for another operation",
        ),
    ] {
        assert_eq!(public(error), Public::new(code, text));
    }
}

#[test]
fn bugs_are_internal_and_reveal_nothing() {
    let account = AccountKey::new(EXTERNAL, &AssetCode::stored("usd"));
    for error in [
        LedgerError::NotLoaded(account),
        LedgerError::BonusAccountMismatch,
    ] {
        let text = error.to_string();
        let public = public(error);
        assert_eq!((public.code, public.field), (Code::Internal, None));
        assert!(!public.text.contains(&text), "{}", public.text);
    }
}

#[test]
fn requests_may_have_other_names_for_the_fields() {
    let names = FieldNames {
        amount: "baseAmount",
        asset: "baseAssetCode",
        origin: "walletId",
        destination: "walletId",
    };
    let failure = ledger_failure(LedgerError::WalletNotFound(Side::Destination), names);
    let expected = invalid("walletId", FieldCode::UnknownReference, "wallet not found");
    assert_eq!(public(failure), expected);
}
