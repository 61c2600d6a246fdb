//! Collects everything that is wrong with an input, so that the caller learns it in one answer.

use super::{Code, Failure, FieldCode, FieldError};

/// Why a text is not a value of its type; a parser does not know the field it parses for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct InvalidValue {
    /// What is wrong, for programs.
    pub code: FieldCode,
    /// What is wrong, for people.
    pub message: String,
}

impl InvalidValue {
    /// An invalid value.
    pub fn new(code: impl Into<FieldCode>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
        }
    }

    /// The failure of a request whose only fault is this value of `field`.
    pub fn at(self, field: impl Into<String>) -> Failure {
        Failure::invalid(field, self.code, self.message)
    }
}

/// The faults found so far.
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
    /// Notes a fault.
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

    /// Notes a fault unless `holds`.
    pub fn check(&mut self, field: &str, holds: bool, code: impl Into<FieldCode>, message: &str) {
        if !holds {
            self.add(field, code, message);
        }
    }

    /// The value, or `None` with its fault noted.
    pub fn value<T>(&mut self, field: &str, parsed: Result<T, InvalidValue>) -> Option<T> {
        parsed
            .map_err(|invalid| self.add(field, invalid.code, invalid.message))
            .ok()
    }

    /// Whether nothing has been noted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Ends with one `validation_failed` if anything was noted.
    pub fn finish(self) -> Result<(), Failure> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(self.into_failure())
        }
    }

    /// The `validation_failed` that lists what was noted.
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
    fn ends_in_one_failure_with_an_item_a_fault() {
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
