//! The one place where an error of this service gets its public code.

use platform::{
    error::{Code, Failure, FieldCode},
    idempotency,
};

use crate::{
    ledger::{LedgerError, Side},
    posting::Rejection,
};

/// Why a use case did not go through.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such wallet, or the caller may not know of it.
    #[error("there is no such wallet")]
    WalletNotFound,
    /// There is no such asset.
    #[error("there is no such asset")]
    AssetNotFound,
    /// There is no such address, or the caller may not know of it.
    #[error("there is no such address")]
    AddressNotFound,
    /// Another asset has this code, in whatever case.
    #[error("an asset has this code already")]
    CodeTaken,
    /// The patch reaches for what is Guerdon's own.
    #[error("a system asset changes only in enabled, customData and logo")]
    AssetReadOnly,
    /// Amounts exist that need not fit fewer decimals.
    #[error("the asset has been used, so its decimal places are never lowered")]
    DecimalPlacesInUse,
    /// The pair has no rate of its own.
    #[error("there is no rate for this pair of assets")]
    RateNotFound,
    /// The pair has a rate already.
    #[error("this pair of assets has a rate already")]
    RateExists,
    /// Neither the pair nor its inverse has a rate.
    #[error("no rate leads from one asset to the other")]
    NoRate,
    /// There is no such transaction, or the caller may not know of it.
    #[error("there is no such transaction")]
    TransactionNotFound,
    /// There is no such movement, or the caller may not know of it.
    #[error("there is no such movement")]
    MovementNotFound,
    /// No payment method with this slug is configured.
    #[error("there is no such payment method")]
    PaymentMethodNotFound,
    /// No ledger operation with this id was accepted.
    #[error("there is no such operation")]
    OperationNotFound,
    /// The posting engine turned it down.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// An idempotency key stands in the way.
    #[error(transparent)]
    Key(#[from] idempotency::Error),
    /// The database's part.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    /// Already a public failure: of the input, of access, of another service.
    #[error(transparent)]
    Failure(#[from] Failure),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = match error {
            Error::WalletNotFound => Code::WalletNotFound,
            Error::AssetNotFound => Code::AssetNotFound,
            Error::AddressNotFound => Code::AddressNotFound,
            Error::CodeTaken => return of_field(Code::CodeTaken, "code", error.to_string()),
            Error::AssetReadOnly => Code::AssetReadOnly,
            Error::DecimalPlacesInUse => {
                let text = error.to_string();
                return of_field(Code::DecimalPlacesInUse, "decimalPlaces", text);
            }
            Error::RateNotFound => Code::RateNotFound,
            Error::RateExists => Code::RateExists,
            Error::NoRate => Code::NoRate,
            Error::TransactionNotFound | Error::OperationNotFound => Code::TransactionNotFound,
            Error::PaymentMethodNotFound => Code::PaymentMethodNotFound,
            Error::MovementNotFound => Code::MovementNotFound,
            Error::Rejected(rejection) => return rejection.into(),
            Error::Key(error) => return error.into(),
            Error::Database(error) => return error.into(),
            Error::Failure(failure) => return failure,
        };
        Self::new(code, error.to_string())
    }
}

impl From<Error> for tonic::Status {
    fn from(error: Error) -> Self {
        Failure::from(error).into()
    }
}

/// What a request calls the parts of a posting that a refusal can be about.
#[derive(Debug, Clone, Copy)]
pub struct FieldNames {
    /// How much is moved.
    pub amount: &'static str,
    /// The asset moved.
    pub asset: &'static str,
    /// The wallet debited.
    pub origin: &'static str,
    /// The wallet credited.
    pub destination: &'static str,
}

/// The names on transactions.
const TRANSACTION: FieldNames = FieldNames {
    amount: "amount",
    asset: "assetCode",
    origin: "originWalletId",
    destination: "destinationWalletId",
};

impl From<LedgerError> for Failure {
    fn from(error: LedgerError) -> Self {
        ledger_failure(error, TRANSACTION)
    }
}

/// Returns the public failure of a rejected command, with these names of fields.
pub fn ledger_failure(error: LedgerError, names: FieldNames) -> Failure {
    let text = error.to_string();
    match error {
        LedgerError::WalletNotFound(side) => {
            let field = match side {
                Side::Origin => names.origin,
                Side::Destination => names.destination,
            };
            Failure::invalid(field, FieldCode::UnknownReference, text)
        }
        LedgerError::SameWallet => Failure::invalid(names.destination, FieldCode::Duplicate, text),
        LedgerError::AssetNotFound(_) => {
            Failure::invalid(names.asset, FieldCode::UnknownReference, text)
        }
        LedgerError::WalletLocked(_) => Failure::new(Code::WalletLocked, text),
        LedgerError::AssetDisabled(_) => of_field(Code::AssetDisabled, names.asset, text),
        LedgerError::Precision { .. } => Failure::new(Code::AmountPrecision, text.clone()).field(
            names.amount,
            FieldCode::Precision,
            text,
        ),
        LedgerError::InsufficientFunds { .. } => {
            of_field(Code::InsufficientFunds, names.amount, text)
        }
        LedgerError::OutOfRange(_) => of_field(Code::AmountOutOfRange, names.amount, text),
        LedgerError::TransactionNotFound(_) | LedgerError::OperationNotFound => {
            Failure::new(Code::TransactionNotFound, text)
        }
        LedgerError::InvalidState { .. } | LedgerError::NotCaptured(_) => {
            Failure::new(Code::InvalidState, text)
        }
        LedgerError::OperationReused => Failure::new(Code::IdempotencyKeyReused, text),
        LedgerError::PartNotFound(_) => {
            Failure::invalid("parts", FieldCode::UnknownReference, text)
        }
        LedgerError::RefundExceeds(_) => of_field(Code::RefundExceedsPaid, "parts", text),
        LedgerError::BonusAccountMismatch | LedgerError::NotLoaded(_) => Failure::internal(error),
    }
}

fn of_field(code: Code, field: &str, text: String) -> Failure {
    Failure::new(code, text.clone()).field(field, code, text)
}
