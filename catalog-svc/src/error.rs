//! Why the catalogue refuses, and the code each reason gets: the only place that picks one.

use platform::{
    error::{Code, Failure, FieldCode, InvalidValue},
    idempotency,
    money::DecimalPlaces,
};
use tonic::Status;

/// A refusal or a fault of this service.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Also a product that the caller may not know of.
    #[error("no such product")]
    ProductNotFound,
    /// Unknown or deleted.
    #[error("no such category")]
    CategoryNotFound,
    /// Unknown or deleted.
    #[error("no such tax rate")]
    TaxRateNotFound,
    /// Unknown or deleted.
    #[error("no such question")]
    QuestionNotFound,
    /// The product does not ask it.
    #[error("the product asks no such question")]
    ProductQuestionNotFound,
    /// Products that are not deleted ask it.
    #[error("products ask the question")]
    QuestionInUse,
    /// The product asks it.
    #[error("the product asks the question already")]
    QuestionAlreadyLinked,
    /// What a question's type needs is not there, or is not for it.
    #[error("configurations: {0}")]
    Configurations(InvalidValue),
    /// Products that are not deleted name it.
    #[error("products are filed under the category")]
    CategoryInUse,
    /// Products that are not deleted name it.
    #[error("products are taxed by the tax rate")]
    TaxRateInUse,
    /// A field names something that does not exist.
    #[error("{field}: no such {what}")]
    UnknownReference {
        /// The field in the public contract.
        field: &'static str,
        /// What it should have named.
        what: &'static str,
    },
    /// The asset of a product has to be enabled when it is written.
    #[error("asset {0} is disabled")]
    AssetDisabled(String),
    /// An amount is finer than its asset.
    #[error("{field} has more decimals than {asset_code} has, {}", places.get())]
    Precision {
        /// The field in the public contract.
        field: &'static str,
        /// The asset.
        asset_code: String,
        /// What the asset allows.
        places: DecimalPlaces,
    },
    /// The input is wrong, the caller may not do this, or something else said no.
    #[error(transparent)]
    Failed(#[from] Failure),
    /// The request's idempotency key.
    #[error(transparent)]
    Idempotency(#[from] idempotency::Error),
    /// The database.
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
                format!("no such {what}"),
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
