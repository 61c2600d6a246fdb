//! Asset codes. Pure.

use std::{fmt, sync::Arc};

use platform::error::{FieldCode, InvalidValue};

/// The code of an asset, in the case in which the asset was created.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct AssetCode(Arc<str>);

impl AssetCode {
    /// Wraps a code that the database holds.
    pub(crate) fn stored(code: &str) -> Self {
        Self(code.into())
    }

    /// Parses a code: `^[a-zA-Z0-9]{1,16}$`.
    pub(crate) fn parse(code: &str) -> Result<Self, InvalidValue> {
        if code.is_empty() {
            return Err(InvalidValue::new(FieldCode::Required, "is required"));
        }
        let fits = code.len() <= 16 && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if fits {
            return Ok(Self::stored(code));
        }
        let message = "must be 1 to 16 letters (a to z, A to Z) and digits";
        Err(InvalidValue::new(FieldCode::Format, message))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AssetCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for AssetCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_has_1_to_16_letters_and_digits() {
        for code in ["a", "USDC", "0x", "abcdefghij123456"] {
            assert_eq!(AssetCode::parse(code).unwrap().as_str(), code);
        }
        for code in ["a b", "a/b", "é", "\0", "abcdefghij1234567", "a-b", " a"] {
            let invalid = AssetCode::parse(code).unwrap_err();
            assert_eq!(invalid.code, FieldCode::Format, "{code}");
        }
        assert_eq!(AssetCode::parse("").unwrap_err().code, FieldCode::Required);
    }
}
