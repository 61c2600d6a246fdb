//! The one place where an error of this service gets its public code.

use platform::{
    error::{Code, Failure, FieldCode},
    idempotency,
};

use crate::{
    ledger::{Refusal, Side},
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

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        refused(refusal, TRANSACTION)
    }
}

/// The public failure of a refusal, about these fields.
pub fn refused(refusal: Refusal, names: FieldNames) -> Failure {
    let text = refusal.to_string();
    match refusal {
        Refusal::UnknownWallet(side) => {
            let field = match side {
                Side::Origin => names.origin,
                Side::Destination => names.destination,
            };
            Failure::invalid(field, FieldCode::UnknownReference, text)
        }
        Refusal::SameWallet => Failure::invalid(names.destination, FieldCode::Duplicate, text),
        Refusal::UnknownAsset(_) => {
            Failure::invalid(names.asset, FieldCode::UnknownReference, text)
        }
        Refusal::WalletLocked(_) => Failure::new(Code::WalletLocked, text),
        Refusal::AssetDisabled(_) => of_field(Code::AssetDisabled, names.asset, text),
        Refusal::Precision { .. } => Failure::new(Code::AmountPrecision, text.clone()).field(
            names.amount,
            FieldCode::Precision,
            text,
        ),
        Refusal::InsufficientFunds { .. } => of_field(Code::InsufficientFunds, names.amount, text),
        Refusal::OutOfRange(_) => of_field(Code::AmountOutOfRange, names.amount, text),
        Refusal::UnknownTransaction(_) | Refusal::UnknownOperation => {
            Failure::new(Code::TransactionNotFound, text)
        }
        Refusal::InvalidState { .. } | Refusal::NotCaptured(_) => {
            Failure::new(Code::InvalidState, text)
        }
        Refusal::OperationReused => Failure::new(Code::IdempotencyKeyReused, text),
        Refusal::UnknownPart(_) => Failure::invalid("parts", FieldCode::UnknownReference, text),
        Refusal::RefundExceeds(_) => of_field(Code::RefundExceedsPaid, "parts", text),
        Refusal::BonusElsewhere | Refusal::NotLoaded(_) => Failure::internal(refusal),
    }
}

fn of_field(code: Code, field: &str, text: String) -> Failure {
    Failure::new(code, text.clone()).field(field, code, text)
}
