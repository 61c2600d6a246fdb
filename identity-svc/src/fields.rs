//! Limits of fields that several aggregates share (the contract's "Limits").

use platform::{
    error::{FieldCode, InvalidValue, Violations},
    patch::Patch,
    text,
};

/// Names and titles, in characters.
pub(crate) const MAX_NAME: usize = 255;

/// Descriptions, in characters.
pub(crate) const MAX_DESCRIPTION: usize = 10_000;

/// Any other text, in characters.
pub(crate) const MAX_TEXT: usize = 2_048;

/// Reads an optional name; an empty one is `None`.
pub(crate) fn name(text: String) -> Result<Option<String>, InvalidValue> {
    not_empty(text, MAX_NAME)
}

/// Reads an optional text; an empty one is `None`.
pub(crate) fn text(text: String) -> Result<Option<String>, InvalidValue> {
    not_empty(text, MAX_TEXT)
}

/// Reads an optional URL that pages link to: with another scheme, a link can run a script.
pub(crate) fn url(url: String) -> Result<Option<String>, InvalidValue> {
    let Some(url) = text(url)? else {
        return Ok(None);
    };
    if is_http(&url) && !url.contains(|c: char| c.is_control() || c.is_whitespace()) {
        return Ok(Some(url));
    }
    let message = "must be an http(s) URL";
    Err(InvalidValue::new(FieldCode::Format, message))
}

fn not_empty(text: String, max: usize) -> Result<Option<String>, InvalidValue> {
    let text = text::bounded(text, 0..=max)?;
    Ok(Some(text).filter(|text| !text.is_empty()))
}

/// Clears a text that an update sets to an empty one.
pub(crate) fn cleared(change: Patch<Option<String>>) -> Patch<String> {
    match change {
        Patch::Set(Some(text)) => Patch::Set(text),
        Patch::Set(None) | Patch::Null => Patch::Null,
        Patch::Absent => Patch::Absent,
    }
}

/// Returns whether a text is a URL with the scheme `http` or `https`.
pub(crate) fn is_http(text: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| {
        let start = text.get(..scheme.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(scheme)) && text.len() > scheme.len()
    })
}

/// Reads a JSON object, `{}` by default, and keeps its text. The gateway has checked its content.
pub(crate) fn custom_data(violations: &mut Violations, json: Option<String>) -> String {
    let Some(json) = json.filter(|json| !json.is_empty()) else {
        return text::EMPTY_OBJECT.to_owned();
    };
    violations.value("customData", text::check_object(&json));
    json
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(check: impl FnOnce(&mut Violations)) -> Vec<FieldCode> {
        let mut violations = Violations::default();
        check(&mut violations);
        match violations.finish() {
            Ok(()) => Vec::new(),
            Err(failure) => failure.fields.into_iter().map(|field| field.code).collect(),
        }
    }

    #[test]
    fn texts_are_limited_in_characters_and_an_empty_one_is_none() {
        let check = |text: String| name(text).map_err(|invalid| invalid.code);
        assert_eq!(check(String::new()), Ok(None));
        assert_eq!(check("é".repeat(255)), Ok(Some("é".repeat(255))));
        assert_eq!(check("é".repeat(256)), Err(FieldCode::Length));
        assert_eq!(check("a\0".to_owned()), Err(FieldCode::Format));
    }

    #[test]
    fn a_change_to_an_empty_text_clears_it() {
        assert_eq!(cleared(Patch::Absent), Patch::Absent);
        assert_eq!(cleared(Patch::Null), Patch::Null);
        let set = |written: &str| cleared(Patch::Set(text(written.to_owned()).unwrap()));
        assert_eq!(set(""), Patch::Null);
        assert_eq!(set("a"), Patch::Set("a".to_owned()));
        assert_eq!(name("é".repeat(256)).unwrap_err().code, FieldCode::Length);
    }

    #[test]
    fn urls_are_http() {
        let check = |written: &str| url(written.to_owned()).err().map(|invalid| invalid.code);
        for url in [
            "",
            "https://x.test/a?b=c#d",
            "HTTP://x",
            "https://é.test/%20",
        ] {
            assert_eq!(check(url), None, "{url}");
        }
        for url in [
            "javascript:alert(1)",
            " https://x.test",
            "java\nscript:x",
            "https://x.test/a b",
            "https://",
            "http:x",
            "//x.test",
            "data:text/html,x",
            "/surveys/1",
        ] {
            assert_eq!(check(url), Some(FieldCode::Format), "{url}");
        }
    }

    #[test]
    fn custom_data_is_a_json_object_and_keeps_its_text() {
        let check = |json: &str| codes(|v| assert_eq!(custom_data(v, Some(json.to_owned())), json));
        assert_eq!(check(r#"{"n":1.10,"big":12345678901234567890}"#), []);
        assert_eq!(check("[]"), [FieldCode::Type]);
        assert_eq!(check("{"), [FieldCode::Type]);
        let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(16 * 1024));
        assert_eq!(check(&long), [FieldCode::Length]);
    }

    #[test]
    fn custom_data_is_empty_by_default() {
        let mut violations = Violations::default();
        assert_eq!(custom_data(&mut violations, None), "{}");
    }
}
