//! The texts and JSON objects that clients write, and how long they may be. Pure. Lengths count
//! characters.

use std::collections::BTreeMap;

use platform::error::{FieldCode, InvalidValue};
use serde_json::value::RawValue;

/// Bytes of a JSON object.
const LARGEST_OBJECT: usize = 16 * 1024;

/// A name: 1 to 255 characters.
pub fn name(text: String) -> Result<String, InvalidValue> {
    bounded(text, 1, 255)
}

/// Text of at most so many characters.
pub fn at_most(longest: usize) -> impl FnOnce(String) -> Result<String, InvalidValue> {
    move |text| bounded(text, 0, longest)
}

/// A JSON object of at most 16 KiB, kept letter for letter.
pub fn object(json: String) -> Result<String, InvalidValue> {
    if json.len() > LARGEST_OBJECT {
        let message = "must have at most 16 KiB";
        return Err(InvalidValue::new(FieldCode::Length, message));
    }
    // RawValue checks the grammar without reading numbers, which would lose digits.
    match serde_json::from_str::<BTreeMap<String, &RawValue>>(&json) {
        Ok(_) => Ok(json),
        Err(_) => Err(InvalidValue::new(FieldCode::Type, "must be a JSON object")),
    }
}

/// The object of what was written without one.
pub fn empty_object() -> String {
    "{}".to_owned()
}

fn bounded(text: String, shortest: usize, longest: usize) -> Result<String, InvalidValue> {
    if text.contains('\0') {
        return Err(InvalidValue::new(FieldCode::Format, "must not hold NUL"));
    }
    if (shortest..=longest).contains(&text.chars().count()) {
        return Ok(text);
    }
    let message = match shortest {
        0 => format!("must have at most {longest} characters"),
        _ => format!("must have {shortest} to {longest} characters"),
    };
    Err(InvalidValue::new(FieldCode::Length, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(result: Result<String, InvalidValue>) -> FieldCode {
        result.unwrap_err().code
    }

    #[test]
    fn lengths_count_characters() {
        assert!(name("é".repeat(255)).is_ok() && at_most(16)(String::new()).is_ok());
        assert_eq!(fault(name("é".repeat(256))), FieldCode::Length);
        assert_eq!(fault(name(String::new())), FieldCode::Length);
        assert!(at_most(16)("₿".repeat(16)).is_ok());
        assert_eq!(fault(at_most(16)("x".repeat(17))), FieldCode::Length);
        assert_eq!(fault(at_most(16)("a\0b".to_owned())), FieldCode::Format);
    }

    #[test]
    fn objects_are_kept_as_written() {
        for json in ["{}", r#"{ "n" : 1e400, "m":1.10 }"#] {
            assert_eq!(object(json.to_owned()).unwrap(), json);
        }
        for json in ["", "null", "[]", "5", "{", "{}{}"] {
            assert_eq!(fault(object(json.to_owned())), FieldCode::Type, "{json}");
        }
        let large = format!("{{\"a\":\"{}\"}}", "x".repeat(LARGEST_OBJECT));
        assert_eq!(fault(object(large)), FieldCode::Length);
    }
}
