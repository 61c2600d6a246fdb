//! The errors of catalog-svc and their public codes: the only place that assigns them.

use platform::{
    error::{Code, Failure, FieldCode, InvalidValue},
    idempotency,
    money::DecimalPlaces,
};
use tonic::Status;

/// An error of this service.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// Also a product that the caller may not see.
    #[error("product not found")]
    ProductNotFound,
    #[error("category not found")]
    CategoryNotFound,
    #[error("tax rate not found")]
    TaxRateNotFound,
    #[error("question not found")]
    QuestionNotFound,
    #[error("product question not found")]
    ProductQuestionNotFound,
    #[error("the question is attached to products")]
    QuestionInUse,
    #[error("the question is already attached to the product")]
    QuestionAlreadyLinked,
    /// The choices of a question do not fit its type.
    #[error("configurations: {0}")]
    Configurations(InvalidValue),
    #[error("the category has products")]
    CategoryInUse,
    #[error("the tax rate is used by products")]
    TaxRateInUse,
    /// A field refers to something that does not exist.
    #[error("{field}: {what} not found")]
    UnknownReference {
        /// Its public name.
        field: &'static str,
        what: &'static str,
    },
    /// The asset of a product must be enabled when it is written.
    #[error("asset {0} is disabled")]
    AssetDisabled(String),
    /// An amount has more decimals than its asset.
    #[error("{field} has more than the {} decimals of {asset_code}", places.get())]
    Precision {
        /// Its public name.
        field: &'static str,
        asset_code: String,
        places: DecimalPlaces,
    },
    /// The request is invalid or forbidden, or another service failed.
    #[error(transparent)]
    Failed(#[from] Failure),
    #[error(transparent)]
    Idempotency(#[from] idempotency::Error),
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let detail = error.to_string();
        match error {
            Error::ProductNotFound => Self::new(Code::ProductNotFound, detail),
            Error::CategoryNotFound => Self::new(Code::CategoryNotFound, detail),
            Error::TaxRateNotFound => Self::new(Code::TaxRateNotFound, detail),
            Error::QuestionNotFound => Self::new(Code::QuestionNotFound, detail),
            Error::ProductQuestionNotFound => Self::new(Code::ProductQuestionNotFound, detail),
            Error::QuestionInUse => Self::new(Code::QuestionInUse, detail),
            Error::QuestionAlreadyLinked => Self::new(Code::QuestionAlreadyLinked, detail),
            Error::Configurations(invalid) => invalid.at("configurations"),
            Error::CategoryInUse => Self::new(Code::CategoryInUse, detail),
            Error::TaxRateInUse => Self::new(Code::TaxRateInUse, detail),
            Error::UnknownReference { field, what } => Self::invalid(
                field,
                FieldCode::UnknownReference,
                format!("{what} not found"),
            ),
            Error::AssetDisabled(_) => {
                let code = Code::AssetDisabled;
                Self::new(code, &detail).field("assetCode", code, detail)
            }
            Error::Precision { field, places, .. } => {
                let message = format!("must have at most {} decimals", places.get());
                Self::new(Code::AmountPrecision, detail).field(field, FieldCode::Precision, message)
            }
            Error::Failed(failure) => failure,
            Error::Idempotency(error) => Self::from(error),
            Error::Database(error) => Self::from(error),
        }
    }
}

impl From<Error> for Status {
    fn from(error: Error) -> Self {
        Failure::from(error).into()
    }
}
