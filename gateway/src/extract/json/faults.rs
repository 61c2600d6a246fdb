//! All faults of form of a body: serde stops at the first, so the others are looked for one by one.
//! That takes place after a body was refused, and costs nothing where none is.

use std::{collections::BTreeMap, fmt::Write as _, marker::PhantomData};

use platform::error::{FieldCode, Violations};
use serde::de::DeserializeOwned;
use serde_json::{Error, value::RawValue};

use super::{
    SEPARATOR,
    probe::{self, Step},
};

/// Most values that are looked at: a list can have very many.
const MAX_VALUES: usize = 10_000;

/// Finds the faults of a JSON object that the type refuses, at most this many.
pub(super) fn find<T: DeserializeOwned>(text: &str, refusal: &Error, most: usize) -> Violations {
    let mut search = Search::<T> {
        found: Violations::default(),
        count: 0,
        most,
        values: 0,
        body: PhantomData,
    };
    search.value(&mut Vec::new(), text, refusal);
    search.found
}

struct Search<T> {
    found: Violations,
    count: usize,
    most: usize,
    values: usize,
    body: PhantomData<T>,
}

impl<T: DeserializeOwned> Search<T> {
    /// Finds what is at fault inside of a refused value; if nothing is, the value is.
    fn value(&mut self, path: &mut Vec<Step>, text: &str, refusal: &Error) {
        let before = self.count;
        match text.trim_start().bytes().next() {
            Some(b'{') => self.object(path, text),
            Some(b'[') => self.list(path, text),
            _ => {}
        }
        if self.count == before {
            let (code, message) = describe(path, text, refusal);
            self.add(path, code, &message);
        }
    }

    fn object(&mut self, path: &mut Vec<Step>, text: &str) {
        let (Some(fields), Ok(mut given)) = (
            probe::fields::<T>(path),
            serde_json::from_str::<BTreeMap<String, &RawValue>>(text),
        ) else {
            return;
        };
        for field in fields {
            path.push(Step::Key((*field).to_owned()));
            match given.remove(*field) {
                Some(value) => self.check(path, value.get()),
                None if probe::is_needed::<T>(path) => {
                    self.add(path, FieldCode::Required, "is required");
                }
                None => {}
            }
            path.pop();
        }
        for unknown in given.into_keys() {
            path.push(Step::Key(unknown));
            self.add(path, FieldCode::UnknownField, "there is no such field");
            path.pop();
        }
    }

    fn list(&mut self, path: &mut Vec<Step>, text: &str) {
        let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(text) else {
            return;
        };
        for (index, item) in items.into_iter().enumerate() {
            path.push(Step::Item(index));
            self.check(path, item.get());
            path.pop();
        }
    }

    fn check(&mut self, path: &mut Vec<Step>, text: &str) {
        self.values += 1;
        if self.values > MAX_VALUES || self.count == self.most {
            return;
        }
        if let Err(refusal) = probe::parse::<T>(path, text) {
            self.value(path, text, &refusal);
        }
    }

    fn add(&mut self, path: &[Step], code: FieldCode, message: &str) {
        if self.count < self.most {
            self.count += 1;
            self.found.add(name(path), code, message);
        }
    }
}

/// Formats a path: `lines[0].quantity`.
fn name(path: &[Step]) -> String {
    let mut name = String::new();
    for step in path {
        let written = match step {
            Step::Key(key) if name.is_empty() => write!(name, "{key}"),
            Step::Key(key) => write!(name, ".{key}"),
            Step::Item(index) => write!(name, "[{index}]"),
        };
        written.expect("a String takes all");
    }
    name
}

/// Describes the refusal of a value. Only their texts tell serde's errors apart.
fn describe(path: &[Step], text: &str, refusal: &Error) -> (FieldCode, String) {
    let is_null = text == "null" && matches!(path.last(), Some(Step::Key(_)));
    let refusal = refusal.to_string();
    // serde_json appends " at line 1 column 7", which says nothing about one line.
    let message = refusal
        .rsplit_once(" at line ")
        .map_or(refusal.as_str(), |(message, _)| message);
    if let Some((code, message)) = message.split_once(SEPARATOR) {
        let code = FieldCode::find(code).unwrap_or(FieldCode::Format);
        if !is_null || code == FieldCode::Required {
            return (code, message.to_owned());
        }
    }
    if is_null {
        return (FieldCode::Required, "is required".to_owned());
    }
    let code = if message.starts_with("unknown variant") {
        FieldCode::Enum
    } else {
        // Also of a number that no type of ours can hold: the text is known to be JSON.
        FieldCode::Type
    };
    (code, message.to_owned())
}
