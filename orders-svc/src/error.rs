//! Everything this service refuses, and the only place where that gets its public code.

use platform::{
    error::{Code, Failure, FieldCode, InvalidValue},
    idempotency,
    money::{Amount, DecimalPlaces, OutOfRange},
};
use tonic::Status;

/// Why a request has no effect.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is none, or the caller may not know of it.
    #[error("there is no such order")]
    OrderNotFound,
    /// The order has no such line.
    #[error("the order has no such line")]
    OrderLineNotFound,
    /// The order's state does not allow it.
    #[error("{0}")]
    InvalidState(&'static str),
    /// Another operation on the order is under way.
    #[error("a payment or cancellation of the order is under way")]
    OrderBusy,
    /// More than what is unpaid.
    #[error("{unpaid} is unpaid, less than {amount}")]
    PaymentExceedsUnpaid {
        /// What was to be paid.
        amount: Amount,
        /// What is left to pay.
        unpaid: Amount,
    },
    /// More than what was paid.
    #[error("{paid} was paid, less than {refund}")]
    RefundExceedsPaid {
        /// What was to go back.
        refund: Amount,
        /// What was paid.
        paid: Amount,
    },
    /// Finer than the asset.
    #[error("{field} may have {} decimals", .places.get())]
    Precision {
        /// The field at fault.
        field: &'static str,
        /// Those of the asset.
        places: DecimalPlaces,
    },
    /// A sum outside what can be kept.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// One field is at fault.
    #[error("{field}: {message}")]
    Field {
        /// Its public name.
        field: String,
        /// What is wrong, for programs.
        code: FieldCode,
        /// What is wrong, for people.
        message: String,
    },
    /// Lines of the cart that cannot be ordered, by their positions.
    #[error("{}", .0.message())]
    Lines(Refusal, Vec<usize>),
    /// The wallet that receives payments can't make one.
    #[error("payments go to this wallet")]
    PaysItself,
    /// No rate leads from the bonus to the order's asset.
    #[error("no rate leads from the bonus balance to the asset of the order")]
    NoRate,
    /// The payer holds less than is needed.
    #[error("the wallet holds {available} available, {needed} needed")]
    InsufficientFunds {
        /// What has to be paid.
        needed: Amount,
        /// What can be spent.
        available: Amount,
    },
    /// The payer accepts no transaction.
    #[error("the wallet is locked")]
    WalletLocked,
    /// What the idempotency key says.
    #[error(transparent)]
    Idempotency(#[from] idempotency::Error),
    /// What the platform or another service refused.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// Why lines of a cart cannot be ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// No such product.
    Unknown,
    /// It is not for sale.
    Unavailable,
    /// Its asset is not that of the first line.
    MixedAssets,
    /// It is sold one at a time.
    QuantityNotAllowed,
    /// It is sold to verified users only.
    IdentityRequired,
}

impl Refusal {
    const fn message(self) -> &'static str {
        match self {
            Self::Unknown => "there is no such product",
            Self::Unavailable => "the product is not available",
            Self::MixedAssets => "all lines are priced in one asset",
            Self::QuantityNotAllowed => "the product is sold one at a time",
            Self::IdentityRequired => "the product is sold to verified users only",
        }
    }

    const fn codes(self) -> (Code, FieldCode) {
        let code = match self {
            Self::Unknown => return (Code::ValidationFailed, FieldCode::UnknownReference),
            Self::Unavailable => Code::ProductUnavailable,
            Self::MixedAssets => Code::MixedAssets,
            Self::QuantityNotAllowed => Code::QuantityNotAllowed,
            Self::IdentityRequired => Code::IdentityRequired,
        };
        (code, FieldCode::Domain(code))
    }

    const fn field(self) -> &'static str {
        match self {
            Self::QuantityNotAllowed => "quantity",
            _ => "productId",
        }
    }
}

impl Error {
    /// Something that cannot be: our fault.
    pub fn fault(what: &'static str) -> Self {
        Self::Failure(Failure::internal(what))
    }

    /// A value of `field` that is not one.
    pub fn invalid(field: impl Into<String>, invalid: InvalidValue) -> Self {
        Self::Field {
            field: field.into(),
            code: invalid.code,
            message: invalid.message,
        }
    }

    /// A reference in the body to something that does not exist, or that the caller may not know of.
    pub fn unknown_reference(field: &str) -> Self {
        Self::Field {
            field: field.to_owned(),
            code: FieldCode::UnknownReference,
            message: "does not exist".to_owned(),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let detail = error.to_string();
        match error {
            Error::OrderNotFound => Self::new(Code::OrderNotFound, detail),
            Error::OrderLineNotFound => Self::new(Code::OrderLineNotFound, detail),
            Error::InvalidState(_) => Self::new(Code::InvalidState, detail),
            Error::OrderBusy => Self::new(Code::OrderBusy, detail),
            Error::PaymentExceedsUnpaid { .. } => {
                refused_field(Code::PaymentExceedsUnpaid, "amount", detail)
            }
            Error::RefundExceedsPaid { .. } => {
                refused_field(Code::RefundExceedsPaid, "refundAmount", detail)
            }
            Error::PaysItself => Self::invalid("walletId", FieldCode::Enum, detail),
            Error::NoRate => refused_field(Code::NoRate, "useBonus", detail),
            Error::InsufficientFunds { .. } => {
                refused_field(Code::InsufficientFunds, "walletId", detail)
            }
            Error::WalletLocked => refused_field(Code::WalletLocked, "walletId", detail),
            Error::Idempotency(error) => error.into(),
            Error::Precision { field, .. } => Self::new(Code::AmountPrecision, detail.clone())
                .field(field, FieldCode::Precision, detail),
            Error::OutOfRange(error) => error.into(),
            Error::Field {
                field,
                code,
                message,
            } => Self::invalid(field, code, message),
            Error::Lines(refusal, positions) => refused_lines(refusal, &positions),
            Error::Failure(failure) => failure,
            Error::Database(error) => error.into(),
        }
    }
}

fn refused_field(code: Code, field: &str, detail: String) -> Failure {
    Failure::new(code, detail.clone()).field(field, code, detail)
}

fn refused_lines(refusal: Refusal, positions: &[usize]) -> Failure {
    let ((code, field_code), name) = (refusal.codes(), refusal.field());
    let failure = Failure::new(code, refusal.message());
    positions.iter().fold(failure, |failure, position| {
        let field = format!("lines[{position}].{name}");
        failure.field(field, field_code, refusal.message())
    })
}

impl From<Error> for Status {
    fn from(error: Error) -> Self {
        Failure::from(error).into()
    }
}
