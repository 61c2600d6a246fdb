//! The texts that clients write, and how long they may be. Lengths count characters.

use std::collections::BTreeMap;

use platform::error::{FieldCode, InvalidValue};
use serde_json::value::RawValue;

/// Bytes of a `customData` document.
const MAX_CUSTOM_DATA: usize = 16 * 1024;

/// A text that names something: 1 to 255 characters.
pub fn title(text: String) -> Result<String, InvalidValue> {
    bounded(text, 1, 255)
}

/// A name that may be empty: at most 255 characters.
pub fn name(text: String) -> Result<String, InvalidValue> {
    bounded(text, 0, 255)
}

/// At most 10 000 characters.
pub fn description(text: String) -> Result<String, InvalidValue> {
    bounded(text, 0, 10_000)
}

/// Any other text: at most 2 048 characters.
pub fn plain(text: String) -> Result<String, InvalidValue> {
    bounded(text, 0, 2_048)
}

/// A JSON object of at most 16 KiB, kept letter for letter. What is inside is the client's.
pub fn custom_data(json: String) -> Result<String, InvalidValue> {
    if json.len() > MAX_CUSTOM_DATA {
        return Err(InvalidValue::new(
            FieldCode::Length,
            "must have at most 16 KiB",
        ));
    }
    // RawValue checks the grammar without reading numbers, which would lose digits.
    match serde_json::from_str::<BTreeMap<String, &RawValue>>(&json) {
        Ok(_) => Ok(json),
        Err(_) => Err(InvalidValue::new(FieldCode::Type, "must be a JSON object")),
    }
}

/// The `customData` of what was written without.
pub fn no_custom_data() -> String {
    "{}".into()
}

fn bounded(text: String, least: usize, most: usize) -> Result<String, InvalidValue> {
    if text.contains('\0') {
        return Err(InvalidValue::new(FieldCode::Format, "must not hold NUL"));
    }
    // Most texts are short: bytes bound characters from above.
    let fits = text.len() >= least && (text.len() <= most || text.chars().count() <= most);
    if fits {
        return Ok(text);
    }
    let message = match least {
        0 => format!("must have at most {most} characters"),
        _ => format!("must have {least} to {most} characters"),
    };
    Err(InvalidValue::new(FieldCode::Length, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(result: Result<String, InvalidValue>) -> FieldCode {
        result.unwrap_err().code
    }

    #[test]
    fn lengths_count_characters() {
        assert!(title("é".repeat(255)).is_ok() && name(String::new()).is_ok());
        assert_eq!(code(title("é".repeat(256))), FieldCode::Length);
        assert_eq!(code(title(String::new())), FieldCode::Length);
        assert_eq!(code(name("x".repeat(256))), FieldCode::Length);
        assert!(description("日".repeat(10_000)).is_ok());
        assert_eq!(code(description("日".repeat(10_001))), FieldCode::Length);
        assert_eq!(code(plain("x".repeat(2_049))), FieldCode::Length);
        assert_eq!(code(plain("a\0b".into())), FieldCode::Format);
    }

    #[test]
    fn custom_data_is_an_object_kept_as_written() {
        for json in [
            "{}",
            r#"{"n":1e400,"m":12345678901234567890.12345,"z":-0,"one":1.0}"#,
            " { \"a\" : [1, {\"b\":null}] } ",
        ] {
            assert_eq!(custom_data(json.into()).unwrap(), json);
        }
        for json in ["", "null", "[]", "5", "\"x\"", "{", "{}{}", "{'a':1}"] {
            assert_eq!(code(custom_data(json.into())), FieldCode::Type, "{json}");
        }
        let big = format!("{{\"a\":\"{}\"}}", "x".repeat(MAX_CUSTOM_DATA));
        assert_eq!(code(custom_data(big)), FieldCode::Length);
    }
}
