//! The error codes of a field.

use super::Code;

/// The error code of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FieldCode {
    /// The field is missing.
    Required,
    /// The field has another JSON type.
    Type,
    /// The text is malformed.
    Format,
    /// The number is too small or too large.
    Range,
    /// The text is too short or too long, or the list has too few or too many items.
    Length,
    /// The value is not one of those allowed.
    Enum,
    /// The field does not exist.
    UnknownField,
    /// The resource it refers to does not exist.
    UnknownReference,
    /// The field or value appears twice.
    Duplicate,
    /// The number has too many decimals.
    Precision,
    /// A rule of the domain is violated.
    Domain(Code),
}

impl FieldCode {
    /// All codes but those of the domain.
    pub const FORM: [Self; 10] = [
        Self::Required,
        Self::Type,
        Self::Format,
        Self::Range,
        Self::Length,
        Self::Enum,
        Self::UnknownField,
        Self::UnknownReference,
        Self::Duplicate,
        Self::Precision,
    ];

    /// Returns the public text of the code.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Required => "required",
            Self::Type => "type",
            Self::Format => "format",
            Self::Range => "range",
            Self::Length => "length",
            Self::Enum => "enum",
            Self::UnknownField => "unknown_field",
            Self::UnknownReference => "unknown_reference",
            Self::Duplicate => "duplicate",
            Self::Precision => "precision",
            Self::Domain(code) => code.as_str(),
        }
    }

    /// Finds the code with this text.
    pub fn find(text: &str) -> Option<Self> {
        let domain = || Code::all().filter(|code| code.as_str() == text).last();
        Self::FORM
            .into_iter()
            .find(|code| code.as_str() == text)
            .or_else(|| domain().map(Self::Domain))
    }
}

impl From<Code> for FieldCode {
    fn from(code: Code) -> Self {
        Self::Domain(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_codes_are_found_by_their_text() {
        for code in FieldCode::FORM {
            assert_eq!(FieldCode::find(code.as_str()), Some(code));
        }
        assert_eq!(FieldCode::find("rate_not_found"), Some(Code::NoRate.into()));
        assert_eq!(FieldCode::find("nonsense"), None);
    }
}
