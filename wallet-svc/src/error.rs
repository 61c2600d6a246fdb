//! The errors of the use cases, with their public codes and texts.

use platform::{
    error::{Code, Failure, FieldCode},
    idempotency,
};

use crate::{
    ledger::{LedgerError, Side},
    posting::PostingError,
    wallet::model::WalletId,
};

/// Why a use case failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The wallet does not exist, or the caller may not see it.
    #[error("wallet not found")]
    WalletNotFound,
    #[error("asset not found")]
    AssetNotFound,
    /// The address does not exist, or the caller may not see it.
    #[error("address not found")]
    AddressNotFound,
    #[error("the owner of a primary wallet and of the default wallet never changes")]
    OwnerIsFixed,
    #[error("wallet {0} holds or expects money")]
    WalletNotEmpty(WalletId),
    /// Codes are unique regardless of case.
    #[error("an asset has this code already")]
    CodeTaken,
    #[error("a system asset can change only in enabled, customData and logo")]
    AssetReadOnly,
    #[error("the decimal places of an asset can be raised, never lowered")]
    DecimalPlacesInUse,
    /// The pair has no rate of its own.
    #[error("rate not found")]
    RateNotFound,
    #[error("this pair of assets has a rate already")]
    RateExists,
    /// Neither the pair nor its inverse has a rate.
    #[error("there is no rate from one asset to the other")]
    NoRate,
    /// The transaction does not exist, or the caller may not see it.
    #[error("transaction not found")]
    TransactionNotFound,
    /// The movement does not exist, or the caller may not see it.
    #[error("movement not found")]
    MovementNotFound,
    #[error("payment method not found")]
    PaymentMethodNotFound,
    #[error("operation not found")]
    OperationNotFound,
    /// The posting was not accepted.
    #[error(transparent)]
    Rejected(#[from] PostingError),
    /// The idempotency key is malformed, or used for another request.
    #[error(transparent)]
    Key(#[from] idempotency::Error),
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    /// Invalid input, missing access, or a failure of another service.
    #[error(transparent)]
    Failure(#[from] Failure),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = match error {
            Error::WalletNotFound => Code::WalletNotFound,
            Error::AssetNotFound => Code::AssetNotFound,
            Error::AddressNotFound => Code::AddressNotFound,
            Error::OwnerIsFixed => {
                return of_field(Code::InvalidState, "ownerId", error.to_string());
            }
            Error::WalletNotEmpty(_) => Code::InvalidState,
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

/// The names of a posting's fields in a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FieldNames {
    pub(crate) amount: &'static str,
    pub(crate) asset: &'static str,
    pub(crate) origin: &'static str,
    pub(crate) destination: &'static str,
}

/// The names of a transaction's fields.
pub(crate) const TRANSACTION: FieldNames = FieldNames {
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
pub(crate) fn ledger_failure(error: LedgerError, names: FieldNames) -> Failure {
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
        LedgerError::OperationLate => Failure::new(Code::Unavailable, text),
        LedgerError::OperationExpired => Failure::new(Code::OperationExpired, text),
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

#[cfg(test)]
mod tests;
