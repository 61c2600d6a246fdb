//! Limits that requests of several aggregates share (the contract's "Limits").

use platform::{error::Violations, text};

/// Names and titles, in characters.
pub const NAME_MAX: usize = 255;

/// Descriptions, in characters.
pub const DESCRIPTION_MAX: usize = 10_000;

/// Any other text, in characters.
pub const TEXT_MAX: usize = 2_048;

/// Notes a text that is too long or holds what Postgres cannot store.
pub fn check_text(violations: &mut Violations, field: &str, text: &str, max: usize) {
    violations.value(field, text::check(text, 0..=max));
}

/// An optional text within its limit; an empty one counts as not given.
pub fn optional_text(
    violations: &mut Violations,
    field: &str,
    text: Option<String>,
    max: usize,
) -> Option<String> {
    let text = text.filter(|text| !text.is_empty())?;
    check_text(violations, field, &text, max);
    Some(text)
}

/// A JSON object as it was written; `{}` where none was given. What is inside was scanned at the
/// edge already.
pub fn custom_data(violations: &mut Violations, json: Option<String>) -> String {
    let Some(json) = json.filter(|json| !json.is_empty()) else {
        return text::EMPTY_OBJECT.to_owned();
    };
    violations.value("customData", text::check_object(&json));
    json
}

#[cfg(test)]
mod tests {
    use platform::error::FieldCode;

    use super::*;

    fn codes(check: impl FnOnce(&mut Violations)) -> Vec<FieldCode> {
        let mut violations = Violations::default();
        check(&mut violations);
        let fields = violations.finish().err().map(|failure| failure.fields);
        fields
            .unwrap_or_default()
            .into_iter()
            .map(|field| field.code)
            .collect()
    }

    #[test]
    fn texts_have_limits() {
        let of = |text: String| codes(|v| check_text(v, "name", &text, NAME_MAX));
        assert_eq!(of("é".repeat(255)), []);
        assert_eq!(of("é".repeat(256)), [FieldCode::Length]);
        assert_eq!(of("a\0".to_owned()), [FieldCode::Format]);
        let mut violations = Violations::default();
        assert_eq!(
            optional_text(&mut violations, "name", Some(String::new()), 1),
            None
        );
    }

    #[test]
    fn custom_data_is_an_object_and_stays_as_it_is() {
        let of = |json: &str| codes(|v| assert_eq!(custom_data(v, Some(json.to_owned())), json));
        assert_eq!(of(r#"{"n":1.10,"big":12345678901234567890}"#), []);
        assert_eq!(of("[]"), [FieldCode::Type]);
        assert_eq!(of("{"), [FieldCode::Type]);
        assert_eq!(
            of(&format!(r#"{{"a":"{}"}}"#, "x".repeat(16 * 1024))),
            [FieldCode::Length]
        );
        let mut violations = Violations::default();
        assert_eq!(custom_data(&mut violations, None), "{}");
    }
}
