//! The table of public error codes with their gRPC and HTTP statuses, and [`Failure`], the error that
//! crosses process boundaries.
//!
//! A service's `error.rs` converts its own enum to a [`Failure`]; no other code chooses a status.

mod code;
mod field_code;
mod status;
mod violations;

use std::{error::Error, fmt, time::Duration};

pub use code::Code;
pub use field_code::FieldCode;
pub use violations::{InvalidValue, Violations};

/// The cause of a [`Failure`], which is only logged.
pub type Source = Box<dyn Error + Send + Sync>;

/// An error of one field of the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// Path of the field in the public contract: `amount`, `lines[2].quantity`.
    pub field: String,
    /// Code, for programs.
    pub code: FieldCode,
    /// Message, for people.
    pub message: String,
}

/// An error response: a rejection (4xx) or a fault (5xx).
///
/// ```
/// # use platform::error::{Code, Failure, FieldCode};
/// let refused = Failure::new(Code::AmountPrecision, "usd has 2 decimal places")
///     .field("amount", FieldCode::Precision, "at most 2 decimal places");
/// assert_eq!(refused.code.http().as_u16(), 422);
/// ```
#[derive(Debug)]
pub struct Failure {
    /// Public code, which determines the status.
    pub code: Code,
    /// One sentence for the caller, sent for 4xx only: see [`Failure::public_detail`].
    pub detail: String,
    /// Invalid fields in the order of the input.
    pub fields: Vec<FieldError>,
    /// Delay after which the caller may retry.
    pub retry_after: Option<Duration>,
    /// Cause, logged at the boundary and never sent.
    pub source: Option<Source>,
}

impl Failure {
    /// Creates a failure; a transient code gets a retry delay of one second.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self {
            code,
            detail: detail.into(),
            fields: Vec::new(),
            retry_after: code.is_transient().then_some(Duration::from_secs(1)),
            source: None,
        }
    }

    /// Creates a fault of our own. The cause is logged and not sent.
    pub fn internal(source: impl Into<Source>) -> Self {
        Self::new(Code::Internal, "an unexpected error").with_source(source)
    }

    /// Creates the failure of an unavailable dependency: `unavailable("wallet")`.
    pub fn unavailable(dependency: &str) -> Self {
        Self::new(Code::Unavailable, format!("{dependency} is unavailable"))
    }

    /// Creates a `validation_failed` with one invalid field.
    pub fn invalid(
        field: impl Into<String>,
        code: impl Into<FieldCode>,
        message: impl Into<String>,
    ) -> Self {
        let (field, message) = (field.into(), message.into());
        Self::new(Code::ValidationFailed, format!("{field}: {message}")).field(field, code, message)
    }

    /// Adds an invalid field.
    #[must_use]
    pub fn field(
        mut self,
        field: impl Into<String>,
        code: impl Into<FieldCode>,
        message: impl Into<String>,
    ) -> Self {
        self.fields.push(FieldError {
            field: field.into(),
            code: code.into(),
            message: message.into(),
        });
        self
    }

    /// Sets the delay after which the caller may retry.
    #[must_use]
    pub fn retry_after(mut self, delay: Duration) -> Self {
        self.retry_after = Some(delay);
        self
    }

    /// Sets the cause, for the log.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Source>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Returns the text for the caller: the detail of a rejection, the code's description of a fault.
    pub fn public_detail(&self) -> &str {
        if self.code.http().is_server_error() {
            self.code.about()
        } else {
            &self.detail
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.detail)
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source
            .as_deref()
            .map(|source| source as &(dyn Error + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cause_of_a_fault_is_not_public() {
        let fault = Failure::internal("relation \"orders\" does not exist");
        assert_eq!(
            fault.source().unwrap().to_string(),
            "relation \"orders\" does not exist"
        );
        assert!(!fault.public_detail().contains("relation"));
    }

    #[test]
    fn transient_codes_have_a_retry_delay() {
        assert_eq!(
            Failure::unavailable("wallet").retry_after,
            Some(Duration::from_secs(1))
        );
        assert_eq!(Failure::new(Code::InvalidState, "").retry_after, None);
        let busy = Failure::new(Code::OrderBusy, "").retry_after(Duration::from_secs(3));
        assert_eq!(busy.retry_after, Some(Duration::from_secs(3)));
    }
}
