//! What can be wrong with one field of an input.

use super::Code;

/// What is wrong with one field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FieldCode {
    /// It is missing.
    Required,
    /// It is of another JSON type.
    Type,
    /// Its text does not have the right form.
    Format,
    /// It is too small or too large.
    Range,
    /// It is too short or too long, or has too few or too many items.
    Length,
    /// It is none of the allowed values.
    Enum,
    /// There is no such field.
    UnknownField,
    /// It names something that does not exist.
    UnknownReference,
    /// It is given twice.
    Duplicate,
    /// It has too many decimals.
    Precision,
    /// A rule of the domain refuses it.
    Domain(Code),
}

impl FieldCode {
    /// Every code of the form itself; any [`Code`] can stand beside them.
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

    /// The text clients switch on.
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

    /// The code with this text.
    pub fn find(text: &str) -> Option<Self> {
        let domain = || {
            Code::ALL
                .iter()
                .copied()
                .rev()
                .find(|code| code.as_str() == text)
        };
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
