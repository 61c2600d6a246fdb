//! The errors of this service, and their public codes.

use platform::{
    error::{Code, Failure, FieldCode, InvalidValue},
    idempotency,
    money::{Amount, DecimalPlaces, OutOfRange},
    pg::GroupError,
};
use tonic::Status;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// Also for an order that the caller may not know of.
    #[error("order not found")]
    OrderNotFound,
    #[error("order line not found")]
    OrderLineNotFound,
    #[error("{0}")]
    InvalidState(&'static str),
    #[error("a payment, refund or cancellation of the order is in progress")]
    OrderBusy,
    #[error("{amount} exceeds the unpaid amount {unpaid}")]
    PaymentExceedsUnpaid { amount: Amount, unpaid: Amount },
    #[error("{refund} exceeds the paid amount {paid}")]
    RefundExceedsPaid {
        field: &'static str,
        refund: Amount,
        paid: Amount,
    },
    /// More decimal places than the order's asset.
    #[error("{field} must have at most {} decimal places", .places.get())]
    Precision {
        field: &'static str,
        places: DecimalPlaces,
    },
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    #[error("{field}: {message}")]
    Field {
        /// Name in the public contract.
        field: String,
        code: FieldCode,
        message: String,
    },
    #[error("{}", .rejection.message())]
    Lines {
        rejection: LineRejection,
        /// Indexes of the rejected lines in the cart.
        positions: Vec<usize>,
    },
    /// The default wallet is named as payer.
    #[error("a wallet cannot pay itself")]
    PaysItself,
    #[error("no rate leads from the bonus asset to the order's asset")]
    NoRate,
    #[error(transparent)]
    Idempotency(#[from] idempotency::Error),
    /// An error of the platform or of another service.
    #[error(transparent)]
    Failure(#[from] Failure),
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// Why lines of a cart are rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineRejection {
    UnknownProduct,
    /// Not for sale, or not shown.
    Unavailable,
    /// Priced in another asset than the first line.
    MixedAssets,
    QuantityNotAllowed,
    IdentityRequired,
    /// The price, tax or bonus has more decimals than the asset.
    Precision,
}

impl LineRejection {
    const fn message(self) -> &'static str {
        match self {
            Self::UnknownProduct => "product not found",
            Self::Unavailable => "the product is not available",
            Self::MixedAssets => "all lines must be priced in one asset",
            Self::QuantityNotAllowed => "the product is sold one at a time",
            Self::IdentityRequired => "the product is sold to verified users only",
            Self::Precision => "the product's price has more decimals than its asset",
        }
    }

    const fn code(self) -> Code {
        match self {
            Self::UnknownProduct => Code::ValidationFailed,
            Self::Unavailable => Code::ProductUnavailable,
            Self::MixedAssets => Code::MixedAssets,
            Self::QuantityNotAllowed => Code::QuantityNotAllowed,
            Self::IdentityRequired => Code::IdentityRequired,
            Self::Precision => Code::AmountPrecision,
        }
    }

    const fn field_code(self) -> FieldCode {
        match self {
            Self::UnknownProduct => FieldCode::UnknownReference,
            _ => FieldCode::Domain(self.code()),
        }
    }

    const fn field(self) -> &'static str {
        match self {
            Self::QuantityNotAllowed => "quantity",
            _ => "productId",
        }
    }

    fn failure(self, positions: &[usize]) -> Failure {
        let mut failure = Failure::new(self.code(), self.message());
        for position in positions {
            let field = format!("lines[{position}].{}", self.field());
            failure = failure.field(field, self.field_code(), self.message());
        }
        failure
    }
}

impl From<GroupError> for Error {
    fn from(error: GroupError) -> Self {
        Self::Failure(error.into())
    }
}

impl Error {
    /// Reports a broken invariant.
    pub(crate) fn internal(message: &'static str) -> Self {
        Self::Failure(Failure::internal(message))
    }

    /// Returns whether the ledger found too little money.
    pub(crate) fn is_insufficient_funds(&self) -> bool {
        matches!(self, Self::Failure(failure) if failure.code == Code::InsufficientFunds)
    }

    /// Reports a malformed value of `field`.
    pub(crate) fn invalid(field: impl Into<String>, invalid: InvalidValue) -> Self {
        Self::Field {
            field: field.into(),
            code: invalid.code,
            message: invalid.message,
        }
    }

    /// Reports an id in the body that does not exist, or that the caller may not know of.
    pub(crate) fn unknown_reference(field: &str, message: &str) -> Self {
        Self::Field {
            field: field.to_owned(),
            code: FieldCode::UnknownReference,
            message: message.to_owned(),
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
                field_failure(Code::PaymentExceedsUnpaid, "amount", detail)
            }
            Error::RefundExceedsPaid { field, .. } => {
                field_failure(Code::RefundExceedsPaid, field, detail)
            }
            Error::PaysItself => Self::invalid("walletId", FieldCode::Duplicate, detail),
            Error::NoRate => field_failure(Code::NoRate, "useBonus", detail),
            Error::Idempotency(error) => error.into(),
            Error::Precision { field, .. } => Self::new(Code::AmountPrecision, detail.clone())
                .field(field, FieldCode::Precision, detail),
            Error::OutOfRange(error) => error.into(),
            Error::Field {
                field,
                code,
                message,
            } => Self::invalid(field, code, message),
            Error::Lines {
                rejection,
                positions,
            } => rejection.failure(&positions),
            Error::Failure(failure) => failure,
            Error::Database(error) => error.into(),
        }
    }
}

fn field_failure(code: Code, field: &str, detail: String) -> Failure {
    Failure::new(code, detail.clone()).field(field, code, detail)
}

impl From<Error> for Status {
    fn from(error: Error) -> Self {
        Failure::from(error).into()
    }
}
