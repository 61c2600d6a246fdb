//! Validation of texts and JSON objects that clients write.

use std::{collections::BTreeMap, ops::RangeInclusive};

use serde_json::value::RawValue;

use crate::error::{FieldCode, InvalidValue};

/// Maximum size of a JSON object, in bytes.
const MAX_OBJECT: usize = 16 * 1024;

/// The default of a JSON object.
pub const EMPTY_OBJECT: &str = "{}";

/// Checks the number of characters of a text, and that it has no NUL, which Postgres cannot store.
///
/// ```
/// # use platform::text;
/// assert!(text::check("é", 1..=1).is_ok());
/// assert_eq!(text::check("", 1..=255).unwrap_err().message, "must have 1 to 255 characters");
/// ```
pub fn check(text: &str, length: RangeInclusive<usize>) -> Result<(), InvalidValue> {
    if text.contains('\0') {
        return Err(InvalidValue::new(FieldCode::Format, "must not hold NUL"));
    }
    if length.contains(&text.chars().count()) {
        return Ok(());
    }
    let message = match length.into_inner() {
        (0, max) => format!("must have at most {max} characters"),
        (min, max) => format!("must have {min} to {max} characters"),
    };
    Err(InvalidValue::new(FieldCode::Length, message))
}

/// Returns the text if [`check`] accepts it.
pub fn bounded(text: String, length: RangeInclusive<usize>) -> Result<String, InvalidValue> {
    check(&text, length).map(|()| text)
}

/// Checks that a text is a JSON object of at most 16 KiB.
pub fn check_object(json: &str) -> Result<(), InvalidValue> {
    if json.len() > MAX_OBJECT {
        let message = "must have at most 16 KiB";
        return Err(InvalidValue::new(FieldCode::Length, message));
    }
    // RawValue checks the grammar without parsing numbers, which would lose digits.
    match serde_json::from_str::<BTreeMap<String, &RawValue>>(json) {
        Ok(_) => Ok(()),
        Err(_) => Err(InvalidValue::new(FieldCode::Type, "must be a JSON object")),
    }
}

/// Returns the JSON object as it was written if [`check_object`] accepts it.
pub fn object(json: String) -> Result<String, InvalidValue> {
    check_object(&json).map(|()| json)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault<T>(checked: Result<T, InvalidValue>) -> Option<FieldCode> {
        checked.err().map(|invalid| invalid.code)
    }

    #[test]
    fn lengths_count_characters() {
        let length = |text: &str, length| fault(check(text, length));
        assert_eq!(length(&"é".repeat(255), 1..=255), None);
        assert_eq!(length(&"é".repeat(256), 1..=255), Some(FieldCode::Length));
        assert_eq!(length("", 1..=255), Some(FieldCode::Length));
        assert_eq!(length("", 0..=255), None);
        assert_eq!(length("é", 2..=3), Some(FieldCode::Length));
        assert_eq!(length("日本語", 2..=3), None);
        assert_eq!(length("a\0b", 0..=255), Some(FieldCode::Format));
    }

    #[test]
    fn objects_are_kept_as_written() {
        for json in [
            "{}",
            r#"{"n":1e400,"m":12345678901234567890.12345,"z":-0,"one":1.0}"#,
            " { \"a\" : [1, {\"b\":null}] } ",
        ] {
            assert_eq!(object(json.to_owned()).unwrap(), json);
        }
        for json in ["", "null", "[]", "5", "\"x\"", "{", "{}{}", "{'a':1}"] {
            assert_eq!(fault(check_object(json)), Some(FieldCode::Type), "{json}");
        }
        let large = format!("{{\"a\":\"{}\"}}", "x".repeat(MAX_OBJECT));
        assert_eq!(fault(check_object(&large)), Some(FieldCode::Length));
    }
}
