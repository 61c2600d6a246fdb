//! The code of an asset. Pure.

use std::{fmt, sync::Arc};

use platform::error::{FieldCode, InvalidValue};

/// The code of an asset, as it was written when the asset was made.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AssetCode(Arc<str>);

impl AssetCode {
    /// Wraps a code read from the assets' table.
    pub fn stored(code: &str) -> Self {
        Self(code.into())
    }

    /// Reads the code of a new asset: `^[a-zA-Z0-9]{1,16}$`.
    pub fn parse(code: &str) -> Result<Self, InvalidValue> {
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

    /// As text.
    pub fn as_str(&self) -> &str {
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
    fn codes_are_letters_and_digits() {
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
