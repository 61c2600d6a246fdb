//! Limits of fields that several aggregates share (the contract's "Limits").

use platform::{
    error::{FieldCode, Violations},
    patch::Patch,
    text,
};

/// Names and titles, in characters.
pub(crate) const MAX_NAME: usize = 255;

/// Descriptions, in characters.
pub(crate) const MAX_DESCRIPTION: usize = 10_000;

/// Any other text, in characters.
pub(crate) const MAX_TEXT: usize = 2_048;

/// Checks the length of a text, and that Postgres can store it.
pub(crate) fn check_text(violations: &mut Violations, field: &str, text: &str, max: usize) {
    violations.value(field, text::check(text, 0..=max));
}

/// Reads an optional text; an empty one is `None`.
pub(crate) fn optional_text(
    violations: &mut Violations,
    field: &str,
    text: Option<String>,
    max: usize,
) -> Option<String> {
    let text = text.filter(|text| !text.is_empty())?;
    check_text(violations, field, &text, max);
    Some(text)
}

/// Reads the change of a field that cannot be cleared.
pub(crate) fn changed<T>(violations: &mut Violations, field: &str, change: Patch<T>) -> Option<T> {
    match change {
        Patch::Absent => None,
        Patch::Null => {
            violations.add(field, FieldCode::Required, "cannot be cleared");
            None
        }
        Patch::Set(value) => Some(value),
    }
}

/// Reads the change of an optional text, where an empty one clears it.
pub(crate) fn patched(
    change: Patch<String>,
    read: impl FnOnce(Option<String>) -> Option<String>,
) -> Patch<String> {
    match change {
        Patch::Set(text) => read(Some(text)).map_or(Patch::Null, Patch::Set),
        unset => unset,
    }
}

/// Reads an optional URL that pages link to: with another scheme, a link can run a script.
pub(crate) fn optional_url(
    violations: &mut Violations,
    field: &str,
    url: Option<String>,
) -> Option<String> {
    let url = optional_text(violations, field, url, MAX_TEXT)?;
    let is_safe = is_http(&url) && !url.contains(|c: char| c.is_control() || c.is_whitespace());
    violations.check(field, is_safe, FieldCode::Format, "must be an http(s) URL");
    Some(url)
}

/// Returns whether a text is a URL with the scheme `http` or `https`.
pub(crate) fn is_http(text: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| {
        let start = text.get(..scheme.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(scheme)) && text.len() > scheme.len()
    })
}

/// Refuses the paths of an update's mask that name no field of it.
pub(crate) fn check_mask(violations: &mut Violations, mask: &[String], known: &[&str]) {
    for path in mask.iter().filter(|path| !known.contains(&path.as_str())) {
        violations.add(path, FieldCode::UnknownField, "there is no such field");
    }
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
    fn texts_are_limited_in_characters() {
        let check = |text: String| codes(|v| check_text(v, "name", &text, MAX_NAME));
        assert_eq!(check("é".repeat(255)), []);
        assert_eq!(check("é".repeat(256)), [FieldCode::Length]);
        assert_eq!(check("a\0".to_owned()), [FieldCode::Format]);
    }

    #[test]
    fn an_empty_optional_text_is_none() {
        let mut violations = Violations::default();
        let text = optional_text(&mut violations, "name", Some(String::new()), 1);
        assert_eq!(text, None);
    }

    #[test]
    fn a_change_clears_optional_texts_only() {
        let read = |text| optional_text(&mut Violations::default(), "name", text, 1);
        assert_eq!(patched(Patch::Absent, read), Patch::Absent);
        assert_eq!(patched(Patch::Null, read), Patch::Null);
        assert_eq!(patched(Patch::Set(String::new()), read), Patch::Null);
        let set = Patch::Set("a".to_owned());
        assert_eq!(patched(set.clone(), read), set);
        let cleared = codes(|v| assert_eq!(changed::<u8>(v, "name", Patch::Null), None));
        assert_eq!(cleared, [FieldCode::Required]);
        let set = codes(|v| assert_eq!(changed(v, "name", Patch::Set(1)), Some(1)));
        assert!(set.is_empty());
    }

    #[test]
    fn urls_are_http() {
        let check = |url: &str| codes(|v| drop(optional_url(v, "url", Some(url.to_owned()))));
        for url in [
            "",
            "https://x.test/a?b=c#d",
            "HTTP://x",
            "https://é.test/%20",
        ] {
            assert_eq!(check(url), [], "{url}");
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
            assert_eq!(check(url), [FieldCode::Format], "{url}");
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
