//! Limits and forms of the fields of requests. Lengths count characters.

use chrono::{DateTime, Datelike as _, Utc};
use platform::{
    clock::from_proto,
    error::{FieldCode, InvalidValue, Violations},
    text::{self, bounded},
};
pub(crate) use platform::{
    fields::{CHECKED, Fields, required},
    text::object,
};
use prost_types::Timestamp;

const MAX_NAME: usize = 255;

/// Reads a name of 1 to 255 characters.
pub(crate) fn name(text: String) -> Result<String, InvalidValue> {
    bounded(text, 1..=MAX_NAME)
}

/// Reads a name of at most 255 characters.
pub(crate) fn name_or_empty(text: String) -> Result<String, InvalidValue> {
    bounded(text, 0..=MAX_NAME)
}

/// Refuses an optional text of more than `max` characters.
pub(crate) fn check_length(
    violations: &mut Violations,
    field: &str,
    text: Option<&String>,
    max: usize,
) {
    if let Some(text) = text {
        violations.value(field, text::check(text, 0..=max));
    }
}

/// Returns the JSON object of a request that has none.
pub(crate) fn empty_object() -> String {
    text::EMPTY_OBJECT.to_owned()
}

/// Reads a time. RFC 3339 and Postgres allow the years 1 to 9999.
pub(crate) fn time(time: &Timestamp) -> Result<DateTime<Utc>, InvalidValue> {
    from_proto(time)
        .filter(|time| (1..=9999).contains(&time.year()))
        .ok_or_else(|| InvalidValue::new(FieldCode::Range, "is not a time"))
}

/// Returns the asset that a code names, or fails because there is none.
pub(crate) fn existing_asset<T>(found: Option<T>) -> Result<T, InvalidValue> {
    found.ok_or_else(|| InvalidValue::new(FieldCode::UnknownReference, "asset not found"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_limits() {
        assert!(name("é".repeat(255)).is_ok() && name("é".repeat(256)).is_err());
        assert!(name(String::new()).is_err() && name_or_empty(String::new()).is_ok());
        assert!(object(empty_object()).is_ok());
        for (length, fits) in [(16, true), (17, false)] {
            let mut violations = Violations::default();
            check_length(&mut violations, "symbol", Some(&"₿".repeat(length)), 16);
            assert_eq!(violations.is_empty(), fits, "{length}");
        }
    }
}
