//! One pass over a request body before anything is parsed into a type: JSON or not, how deep, duplicate
//! keys, NUL. serde alone keeps the last of two keys and takes NUL, which Postgres refuses.

use std::collections::HashSet;

use platform::error::{Code, Failure, FieldCode};
use serde_json::value::RawValue;

/// Levels of arrays and objects that a body may have, the root being the first.
pub(crate) const MAX_DEPTH: usize = 32;

/// Checks a body and returns its text.
///
/// # Errors
/// `malformed_json` where it is no JSON, `validation_failed` where a rule of ours refuses it.
pub(crate) fn check(body: &[u8]) -> Result<&str, Failure> {
    let malformed = |error: &dyn std::fmt::Display| {
        Failure::new(
            Code::MalformedJson,
            format!("the body is not JSON: {error}"),
        )
    };
    let text = std::str::from_utf8(body).map_err(|error| malformed(&error))?;
    serde_json::from_str::<&RawValue>(text).map_err(|error| malformed(&error))?;
    if !text.trim_start().starts_with('{') {
        return Err(Failure::invalid(
            "",
            FieldCode::Type,
            "the body must be a JSON object",
        ));
    }
    Scanner {
        text,
        at: 0,
        open: Vec::new(),
    }
    .run()?;
    Ok(text)
}

/// Walks text that is known to be valid JSON.
struct Scanner<'a> {
    text: &'a str,
    at: usize,
    open: Vec<Level>,
}

struct Level {
    /// `None` in an array.
    keys: Option<HashSet<String>>,
    /// The next string is a key.
    expects_key: bool,
    /// The key being read, for messages.
    key: String,
}

impl Scanner<'_> {
    fn run(mut self) -> Result<(), Failure> {
        while let Some(&byte) = self.text.as_bytes().get(self.at) {
            self.at += 1;
            match byte {
                b'{' | b'[' => self.enter(byte == b'{')?,
                b'}' | b']' => drop(self.open.pop()),
                b',' => self.next_item(),
                b'"' => self.string()?,
                _ => {}
            }
        }
        Ok(())
    }

    fn enter(&mut self, object: bool) -> Result<(), Failure> {
        if self.open.len() == MAX_DEPTH {
            let message = format!("nested deeper than {MAX_DEPTH} levels");
            return Err(Failure::invalid(self.path(), FieldCode::Range, message));
        }
        let keys = object.then(HashSet::new);
        self.open.push(Level {
            keys,
            expects_key: object,
            key: String::new(),
        });
        Ok(())
    }

    fn next_item(&mut self) {
        if let Some(level) = self.open.last_mut() {
            level.expects_key = level.keys.is_some();
        }
    }

    fn string(&mut self) -> Result<(), Failure> {
        let start = self.at - 1;
        let end = self.end_of_string();
        self.at = end;
        let raw = &self.text[start..end];
        if has_nul(raw) {
            let message = "must not hold the NUL character";
            return Err(Failure::invalid(self.path(), FieldCode::Format, message));
        }
        let Some(level) = self.open.last_mut().filter(|level| level.expects_key) else {
            return Ok(());
        };
        level.expects_key = false;
        // An escape that is no character (a lone surrogate) stands as it was written.
        level.key = serde_json::from_str(raw).unwrap_or_else(|_| raw.to_owned());
        let key = level.key.clone();
        if level.keys.as_mut().is_some_and(|keys| !keys.insert(key)) {
            return Err(Failure::invalid(
                self.path(),
                FieldCode::Duplicate,
                "is given twice",
            ));
        }
        Ok(())
    }

    fn end_of_string(&self) -> usize {
        let bytes = self.text.as_bytes();
        let mut at = self.at;
        while bytes[at] != b'"' {
            at += if bytes[at] == b'\\' { 2 } else { 1 };
        }
        at + 1
    }

    fn path(&self) -> String {
        let keys: Vec<&str> = self
            .open
            .iter()
            .map(|level| level.key.as_str())
            .filter(|key| !key.is_empty())
            .collect();
        keys.join(".")
    }
}

/// Whether a raw JSON string holds `\u0000`, and not an escaped backslash before `u0000`.
fn has_nul(raw: &str) -> bool {
    let mut escaped = false;
    raw.char_indices().any(|(at, char)| {
        if escaped {
            escaped = false;
            return raw[at..].starts_with("u0000");
        }
        escaped = char == '\\';
        false
    })
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
    fn plain_objects_pass() {
        for body in [
            "{}",
            " {\"a\": [1, {\"b\": null}], \"c\": \"x,y:{}\\\"\"} ",
            r#"{"n": 1e400, "m": 12345678901234567890.12345}"#,
            r#"{"a": "\\u0000"}"#,
            r#"{"a": {"k": 1}, "b": {"k": 1}}"#,
        ] {
            assert_eq!(check(body.as_bytes()).expect(body), body);
        }
    }

    #[test]
    fn what_is_no_json_is_malformed() {
        for body in ["", "x", "{", "{}x", "{\"a\":NaN}", "{\"a\":01}"] {
            assert_eq!(refusal(body).0, Code::MalformedJson, "{body}");
        }
        assert_eq!(
            check(b"{\"a\":\"\xff\"}").expect_err("utf-8").code,
            Code::MalformedJson
        );
    }

    #[test]
    fn what_is_no_object_is_refused() {
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
