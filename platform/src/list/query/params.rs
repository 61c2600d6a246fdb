//! One parameter of a query string, decoded once after splitting, with its bracketed name.

use percent_encoding::percent_decode_str;

use super::{is_bound, split_operator};
use crate::{
    error::{Failure, FieldCode},
    list::refuse,
};

/// A decoded parameter. Brackets count the same raw and encoded.
pub(super) struct Param {
    /// The whole name: `filter[id][0]`.
    pub(super) name: String,
    pub(super) value: String,
}

/// The kind of a parameter, from its name.
pub(super) enum Key<'a> {
    /// `filter[x]`
    Filter(&'a str),
    /// `filter[x][0]` or `filter[x][]`
    Element(&'a str),
    Sort,
    /// `page[x]`
    Page(&'a str),
    /// `include` or `include[0]`
    Includes,
    /// `include[x]`
    Include(&'a str),
    /// Not a list's.
    Other,
}

impl Param {
    /// Decodes `name=value`. A `%` that starts no escape stands for itself, so that patterns work
    /// unencoded too.
    pub(super) fn decode(piece: &str) -> Result<Self, Failure> {
        let (name, value) = piece.split_once('=').unwrap_or((piece, ""));
        let name = decode(name).ok_or_else(|| not_text("the query"))?;
        let value = decode(value).ok_or_else(|| not_text(&name))?;
        Ok(Self { name, value })
    }

    /// Returns the name if it is a stray bound: `lte:2026-01-01`.
    pub(super) fn bound(&self) -> Option<&str> {
        let (operator, _) = split_operator(&self.name);
        (is_bound(operator) && self.value.is_empty()).then_some(self.name.as_str())
    }

    pub(super) fn key(&self) -> Result<Key<'_>, Failure> {
        let (root, rest) = self
            .name
            .split_at(self.name.find('[').unwrap_or(self.name.len()));
        let known = matches!(root, "filter" | "sort" | "page" | "include");
        if !known || (rest.is_empty() && matches!(root, "filter" | "page")) {
            return Ok(Key::Other);
        }
        match (root, brackets(rest).as_deref()) {
            ("filter", Some([field])) if !field.is_empty() => Ok(Key::Filter(field)),
            ("filter", Some([field, index])) if is_index(index) => Ok(Key::Element(field)),
            ("sort", Some([])) => Ok(Key::Sort),
            ("page", Some([part])) => Ok(Key::Page(part)),
            ("include", Some([])) => Ok(Key::Includes),
            ("include", Some([index])) if is_index(index) => Ok(Key::Includes),
            ("include", Some([name])) => Ok(Key::Include(name)),
            _ => Err(refuse(
                &self.name,
                FieldCode::UnknownField,
                "is unknown; the forms are `filter[x]` `filter[x][0]` `sort` `page[x]` `include`",
            )),
        }
    }
}

fn decode(text: &str) -> Option<String> {
    let spaced = text.replace('+', " ");
    let decoded = percent_decode_str(&spaced).decode_utf8().ok()?;
    (!decoded.contains('\0')).then(|| decoded.into_owned())
}

fn not_text(name: &str) -> Failure {
    refuse(name, FieldCode::Format, "is not UTF-8 text, or holds a NUL")
}

/// Returns the content of each bracket of `[a][b]`; `None` if they do not close.
fn brackets(mut rest: &str) -> Option<Vec<&str>> {
    let mut inner = Vec::new();
    while !rest.is_empty() {
        let (content, after) = rest.strip_prefix('[')?.split_once(']')?;
        inner.push(content);
        rest = after;
    }
    Some(inner)
}

fn is_index(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}
