//! Collection of all errors of an input, so that one response lists them.

use super::{Code, Failure, FieldCode, FieldError};

/// The error of a parser, which does not know the field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct InvalidValue {
    /// Code, for programs.
    pub code: FieldCode,
    /// Message, for people.
    pub message: String,
}

impl InvalidValue {
    /// Creates the error of a value.
    pub fn new(code: impl Into<FieldCode>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
        }
    }

    /// Returns the failure of a request whose only error is this value of `field`.
    pub fn at(self, field: impl Into<String>) -> Failure {
        Failure::invalid(field, self.code, self.message)
    }
}

/// The field errors found so far.
///
/// ```
/// # use platform::error::{FieldCode, Violations};
/// let mut violations = Violations::default();
/// violations.check("name", "".len() > 0, FieldCode::Length, "must not be empty");
/// violations.add("price", FieldCode::Required, "is required");
/// assert_eq!(violations.finish().unwrap_err().fields.len(), 2);
/// ```
#[derive(Debug, Default)]
pub struct Violations(Vec<FieldError>);

impl Violations {
    /// Adds an error.
    pub fn add(
        &mut self,
        field: impl Into<String>,
        code: impl Into<FieldCode>,
        message: impl Into<String>,
    ) {
        let (field, code, message) = (field.into(), code.into(), message.into());
        self.0.push(FieldError {
            field,
            code,
            message,
        });
    }

    /// Adds an error unless `holds`.
    pub fn check(&mut self, field: &str, holds: bool, code: impl Into<FieldCode>, message: &str) {
        if !holds {
            self.add(field, code, message);
        }
    }

    /// Returns the value, or adds its error and returns `None`.
    pub fn value<T>(&mut self, field: &str, parsed: Result<T, InvalidValue>) -> Option<T> {
        parsed
            .map_err(|invalid| self.add(field, invalid.code, invalid.message))
            .ok()
    }

    /// Returns whether there are no errors.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a `validation_failed` if there are errors.
    pub fn finish(self) -> Result<(), Failure> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(self.into_failure())
        }
    }

    /// Returns the `validation_failed` that lists the errors.
    pub fn into_failure(self) -> Failure {
        let detail = match self.0.as_slice() {
            [only] => format!("{}: {}", only.field, only.message),
            all => format!("{} fields are not valid", all.len()),
        };
        let mut failure = Failure::new(Code::ValidationFailed, detail);
        failure.fields = self.0;
        failure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finish_returns_one_failure_with_all_errors() {
        let mut violations = Violations::default();
        assert!(violations.is_empty());
        let amount: Result<u8, _> = Err(InvalidValue::new(FieldCode::Format, "not a decimal"));
        assert_eq!(violations.value("amount", amount), None);
        assert_eq!(violations.value("quantity", Ok(3)), Some(3));
        violations.check("name", true, FieldCode::Required, "is required");

        let failure = violations.finish().unwrap_err();
        assert_eq!(failure.code, Code::ValidationFailed);
        assert_eq!(failure.detail, "amount: not a decimal");
        assert_eq!(failure.fields.len(), 1);
        assert!(Violations::default().finish().is_ok());
    }
}
