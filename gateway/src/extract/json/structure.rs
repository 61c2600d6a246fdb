//! Checks the structure of a body before it is parsed into a type: depth, duplicate keys, NUL. serde
//! alone keeps the last of two keys and accepts NUL, which Postgres refuses.
//!
//! This is a scanner, not a serde visitor: visiting fails at numbers and half surrogates that raw
//! fields keep as written, and visiting raw values reads a nested value once for each level.

use std::{borrow::Cow, collections::HashSet, fmt};

use platform::error::{Code, Failure, FieldCode};
use serde_json::value::RawValue;

/// Most levels of arrays and objects, the root being the first.
const MAX_DEPTH: usize = 32;

/// Checks a body and returns its text.
///
/// # Errors
/// `malformed_json` if it is not JSON, `validation_failed` for anything else.
pub(super) fn check(body: &[u8]) -> Result<&str, Failure> {
    let text = std::str::from_utf8(body).map_err(malformed)?;
    serde_json::from_str::<&RawValue>(text).map_err(malformed)?;
    if !text.trim_start().starts_with('{') {
        let message = "the body must be a JSON object";
        return Err(Failure::invalid("", FieldCode::Type, message));
    }
    check_structure(text)?;
    Ok(text)
}

fn malformed(error: impl fmt::Display) -> Failure {
    Failure::new(
        Code::MalformedJson,
        format!("the body is not JSON: {error}"),
    )
}

/// An array or object that is open.
#[derive(Default)]
struct Level<'a> {
    /// The keys of an object so far.
    keys: HashSet<Cow<'a, str>>,
    /// The last of them.
    key: Cow<'a, str>,
}

/// Reads text that is known to be valid JSON, so that only brackets and strings matter.
fn check_structure(text: &str) -> Result<(), Failure> {
    let mut open: Vec<Level<'_>> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| b"{}[]\"".contains(&byte)) {
        match rest.as_bytes()[at] {
            b'{' | b'[' if open.len() == MAX_DEPTH => {
                let message = format!("nested deeper than {MAX_DEPTH} levels");
                return Err(refuse(&open, FieldCode::Range, &message));
            }
            b'{' | b'[' => open.push(Level::default()),
            b'}' | b']' => drop(open.pop()),
            _ => {
                let (string, after) = split_string(&rest[at..]);
                check_string(&mut open, string, after.trim_start().starts_with(':'))?;
                rest = after;
                continue;
            }
        }
        rest = &rest[at + 1..];
    }
    Ok(())
}

fn check_string<'a>(open: &mut [Level<'a>], string: &'a str, is_key: bool) -> Result<(), Failure> {
    if has_nul(string) {
        return Err(refuse(
            open,
            FieldCode::Format,
            "must not hold the NUL character",
        ));
    }
    if let Some(level) = open.last_mut().filter(|_| is_key) {
        level.key = unescape(string);
        if !level.keys.insert(level.key.clone()) {
            return Err(refuse(open, FieldCode::Duplicate, "is given twice"));
        }
    }
    Ok(())
}

/// Splits a string off, with both quotes.
fn split_string(text: &str) -> (&str, &str) {
    let mut escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    text.split_at(end.map_or(text.len(), |end| end + 2))
}

/// Whether a string holds `\u0000`, and not an escaped backslash before `u0000`.
fn has_nul(string: &str) -> bool {
    string.match_indices("\\u0000").any(|(at, _)| {
        let before = string.as_bytes()[..at].iter().rev();
        before.take_while(|byte| **byte == b'\\').count() % 2 == 0
    })
}

/// Returns the characters of a string. A half surrogate is none: such a string stays as written.
fn unescape(string: &str) -> Cow<'_, str> {
    if string.contains('\\') {
        Cow::Owned(serde_json::from_str(string).unwrap_or_else(|_| string.to_owned()))
    } else {
        Cow::Borrowed(&string[1..string.len() - 1])
    }
}

fn refuse(open: &[Level<'_>], code: FieldCode, message: &str) -> Failure {
    let keys = open.iter().map(|level| &*level.key);
    let path: Vec<_> = keys.filter(|key| !key.is_empty()).collect();
    Failure::invalid(path.join("."), code, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(body: &str) -> (Code, Option<FieldCode>, String) {
        let failure = check(body.as_bytes()).expect_err(body);
        let field = failure.fields.first();
        let name = field.map(|field| field.field.clone()).unwrap_or_default();
        (failure.code, field.map(|field| field.code), name)
    }

    #[test]
    fn valid_objects_pass() {
        for body in [
            "{}",
            " {\"a\": [1, {\"b\": null}], \"c\": \"x,y:{}\\\"\"} ",
            r#"{"n": 1e400, "m": 12345678901234567890.12345}"#,
            r#"{"a": "\\u0000"}"#,
            r#"{"a": {"k": 1}, "b": {"k": 1}}"#,
            r#"{"a": "\\", "b": "\"a\":", "c": ["a", "a", "a\\\\u0000"]}"#,
            r#"{"half": "\ud800", "k" : {"k" :"k"}}"#,
        ] {
            assert_eq!(check(body.as_bytes()).expect(body), body);
        }
    }

    #[test]
    fn text_that_is_not_json_is_malformed() {
        for body in ["", "x", "{", "{}x", "{\"a\":NaN}", "{\"a\":01}"] {
            assert_eq!(refusal(body).0, Code::MalformedJson, "{body}");
        }
        assert_eq!(
            check(b"{\"a\":\"\xff\"}").expect_err("utf-8").code,
            Code::MalformedJson
        );
    }

    #[test]
    fn other_values_are_refused() {
        for body in ["[]", "null", "5", "\"x\""] {
            assert_eq!(refusal(body).1, Some(FieldCode::Type), "{body}");
        }
    }

    #[test]
    fn duplicate_keys_are_found_at_any_depth_and_after_unescaping() {
        let duplicate = |name: &str| {
            (
                Code::ValidationFailed,
                Some(FieldCode::Duplicate),
                name.into(),
            )
        };
        assert_eq!(refusal(r#"{"a":1,"a":2}"#), duplicate("a"));
        assert_eq!(refusal(r#"{"a":1,"\u0061":2}"#), duplicate("a"));
        assert_eq!(
            refusal(r#"{"x":[{"y":{"b":1,"b":2}}]}"#),
            duplicate("x.y.b")
        );
    }

    #[test]
    fn nul_is_found_in_keys_and_values() {
        let nul = |name: &str| (Code::ValidationFailed, Some(FieldCode::Format), name.into());
        assert_eq!(refusal(r#"{"a":"x\u0000"}"#), nul("a"));
        assert_eq!(refusal(r#"{"customData":{"\u0000":1}}"#), nul("customData"));
    }

    #[test]
    fn depth_is_bounded_without_recursion() {
        let nested = |depth: usize| {
            format!(
                "{{\"a\":{}1{}}}",
                "[".repeat(depth - 1),
                "]".repeat(depth - 1)
            )
        };
        assert!(check(nested(MAX_DEPTH).as_bytes()).is_ok());
        assert_eq!(refusal(&nested(MAX_DEPTH + 1)).1, Some(FieldCode::Range));
        assert_eq!(refusal(&nested(200_000)).1, Some(FieldCode::Range));
    }
}
