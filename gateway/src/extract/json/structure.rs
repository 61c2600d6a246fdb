//! Checks the structure of a body before it is parsed into a type: depth, duplicate keys, NUL, half
//! surrogates. serde alone keeps the last of two keys, accepts NUL, which Postgres refuses, and keeps
//! in raw fields what a strict reader of the response refuses.
//!
//! This is a scanner, not a serde visitor: visiting fails at numbers that raw fields keep as written,
//! and visiting raw values reads a nested value once for each level.

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
    let Ok(text) = unescape(string) else {
        let message = "must hold whole characters, not half a surrogate pair";
        return Err(refuse(open, FieldCode::Format, message));
    };
    if text.contains('\0') {
        let message = "must not hold the NUL character";
        return Err(refuse(open, FieldCode::Format, message));
    }
    if let Some(level) = open.last_mut().filter(|_| is_key) {
        level.key = text;
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

/// Returns the characters of a string. Half a surrogate pair is none.
fn unescape(string: &str) -> Result<Cow<'_, str>, serde_json::Error> {
    if string.contains('\\') {
        serde_json::from_str(string).map(Cow::Owned)
    } else {
        Ok(Cow::Borrowed(&string[1..string.len() - 1]))
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
            r#"{"pair": "\ud83d\ude00", "\\ud83d": "\\ud83d", "k" : {"k" :"k"}}"#,
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
    fn half_surrogates_are_found_in_keys_and_values() {
        let half = |name: &str| (Code::ValidationFailed, Some(FieldCode::Format), name.into());
        assert_eq!(refusal(r#"{"a":"\ud83d"}"#), half("a"));
        assert_eq!(refusal(r#"{"a":["x\ude00\ud83d"]}"#), half("a"));
        assert_eq!(refusal(r#"{"a":{"b":1,"\ud83d":2}}"#), half("a.b"));
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
