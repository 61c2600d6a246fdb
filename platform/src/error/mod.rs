//! The error table: every public error code with its gRPC and HTTP status, and [`Failure`], the one
//! form in which a refusal or a fault crosses a process boundary.
//!
//! A service's `error.rs` turns its own enum into a [`Failure`]; nothing else picks a status.

mod code;
mod field_code;
mod status;
mod violations;

use std::{error::Error, fmt, time::Duration};

pub use code::Code;
pub use field_code::FieldCode;
pub use violations::{InvalidValue, Violations};

/// The cause of a [`Failure`], for the log only.
pub type Source = Box<dyn Error + Send + Sync>;

/// What is wrong with one field of the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// Path of the field in the public contract: `amount`, `lines[2].quantity`.
    pub field: String,
    /// What is wrong, for programs.
    pub code: FieldCode,
    /// What is wrong, for people.
    pub message: String,
}

/// A refusal or a fault, ready to be answered.
///
/// ```
/// # use platform::error::{Code, Failure, FieldCode};
/// let refused = Failure::new(Code::AmountPrecision, "usd has 2 decimal places")
///     .field("amount", FieldCode::Precision, "at most 2 decimal places");
/// assert_eq!(refused.code.http().as_u16(), 422);
/// ```
#[derive(Debug)]
pub struct Failure {
    /// The public code; it decides the status.
    pub code: Code,
    /// One sentence for the caller. Shown for 4xx only: see [`Failure::public_detail`].
    pub detail: String,
    /// The fields at fault, in the order of the input.
    pub fields: Vec<FieldError>,
    /// How long to wait before trying again.
    pub retry_after: Option<Duration>,
    /// The cause, logged at the boundary and never sent.
    pub source: Option<Source>,
}

impl Failure {
    /// A failure with this code; the codes that are worth a retry start with a delay of one second.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self {
            code,
            detail: detail.into(),
            fields: Vec::new(),
            retry_after: code.is_transient().then_some(Duration::from_secs(1)),
            source: None,
        }
    }

    /// Our own fault. The cause goes to the log, the caller learns nothing of it.
    pub fn internal(source: impl Into<Source>) -> Self {
        Self::new(Code::Internal, "an unexpected error").with_source(source)
    }

    /// Something this process needs cannot be reached: `unavailable("wallet")`.
    pub fn unavailable(dependency: &str) -> Self {
        Self::new(Code::Unavailable, format!("{dependency} is unavailable"))
    }

    /// One field is at fault: `validation_failed` with that single item.
    pub fn invalid(
        field: impl Into<String>,
        code: impl Into<FieldCode>,
        message: impl Into<String>,
    ) -> Self {
        let (field, message) = (field.into(), message.into());
        Self::new(Code::ValidationFailed, format!("{field}: {message}")).field(field, code, message)
    }

    /// Adds a field at fault.
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

    /// Tells the caller to wait this long before trying again.
    #[must_use]
    pub fn retry_after(mut self, delay: Duration) -> Self {
        self.retry_after = Some(delay);
        self
    }

    /// Keeps the cause for the log.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Source>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// What the caller may read: the detail of a refusal, the code's own sentence for a fault.
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
    fn a_fault_shows_its_cause_to_the_log_only() {
        let fault = Failure::internal("relation \"orders\" does not exist");
        assert_eq!(
            fault.source().unwrap().to_string(),
            "relation \"orders\" does not exist"
        );
        assert!(!fault.public_detail().contains("relation"));
    }

    #[test]
    fn transient_codes_say_when_to_come_back() {
        assert_eq!(
            Failure::unavailable("wallet").retry_after,
            Some(Duration::from_secs(1))
        );
        assert_eq!(Failure::new(Code::InvalidState, "").retry_after, None);
        let busy = Failure::new(Code::OrderBusy, "").retry_after(Duration::from_secs(3));
        assert_eq!(busy.retry_after, Some(Duration::from_secs(3)));
    }
}
