//! Rejections, as tests compare them.

use std::fmt::Debug;

use platform::error::{Code, Failure};
use tonic::Status;

/// The public part of a failed call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub(crate) code: Code,
    pub(crate) fields: Vec<FieldError>,
}

/// A field that a failed call is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FieldError {
    /// Its public name.
    pub(crate) field: String,
    pub(crate) code: String,
}

impl Rejection {
    pub(crate) fn of_field(code: Code, field: &str, field_code: &str) -> Self {
        let error = FieldError {
            field: field.into(),
            code: field_code.into(),
        };
        Self {
            code,
            fields: vec![error],
        }
    }
}

/// Returns the rejection of a request with one invalid field.
pub(crate) fn invalid(field: &str, code: &str) -> Rejection {
    Rejection::of_field(Code::ValidationFailed, field, code)
}

/// Returns why a call failed, and fails the test if it did not.
pub(crate) fn rejection<T: Debug>(result: Result<T, Status>) -> Rejection {
    let failure = Failure::from_status(&result.unwrap_err());
    let fields = failure.fields.into_iter().map(|error| FieldError {
        field: error.field,
        code: error.code.as_str().into(),
    });
    Rejection {
        code: failure.code,
        fields: fields.collect(),
    }
}
