//! Entity tags: a hash of the body. `"5f1d…"` is plain, `"5f1d…-gzip"` compressed.

use std::fmt::Write as _;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use sha2::{Digest as _, Sha256};

/// What the tag of a compressed body ends in: its bytes are others.
const COMPRESSED: &str = "-gzip";
/// Bytes of the hash in a tag. Nobody gains from a collision but for bodies of their own.
const HASH_BYTES: usize = 16;

/// An entity tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EntityTag {
    /// What stands in the quotes.
    opaque: String,
    pub(super) is_weak: bool,
}

/// `If-Match` or `If-None-Match`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Condition {
    /// `*`: any representation there is.
    Any,
    /// One of these.
    Tags(Vec<EntityTag>),
}

impl EntityTag {
    /// Makes the tag of a body that is not compressed.
    pub(super) fn of(body: &[u8]) -> Self {
        let mut opaque = String::new();
        for byte in &Sha256::digest(body)[..HASH_BYTES] {
            write!(opaque, "{byte:02x}").expect("a String takes all text");
        }
        Self {
            opaque,
            is_weak: false,
        }
    }

    /// Reads a header that holds one tag.
    pub(super) fn read(value: &HeaderValue) -> Option<Self> {
        match tags(value.to_str().ok()?)?.as_slice() {
            [tag] => Some(tag.clone()),
            _ => None,
        }
    }

    /// Returns the tag of the compressed body, as a header.
    pub(super) fn compressed(&self) -> HeaderValue {
        let tag = format!("\"{}{COMPRESSED}\"", self.plain());
        HeaderValue::try_from(tag).expect("a tag that was a header")
    }

    /// Returns the header.
    pub(super) fn header(&self) -> HeaderValue {
        HeaderValue::try_from(format!("\"{}\"", self.opaque)).expect("a tag is ASCII")
    }

    /// Returns whether both are of the same representation, compressed or not, by the weak comparison.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.plain() == other.plain()
    }

    fn plain(&self) -> &str {
        self.opaque.strip_suffix(COMPRESSED).unwrap_or(&self.opaque)
    }
}

impl Condition {
    /// Reads a condition, if the request has it. A malformed one holds no tag, so that none matches.
    pub(super) fn of(headers: &HeaderMap, name: &HeaderName) -> Option<Self> {
        let mut all = Vec::new();
        for value in headers.get_all(name) {
            let Some(text) = value.to_str().ok().map(str::trim) else {
                return Some(Self::Tags(Vec::new()));
            };
            if text == "*" {
                return Some(Self::Any);
            }
            match tags(text) {
                Some(tags) => all.extend(tags),
                None => return Some(Self::Tags(Vec::new())),
            }
        }
        headers.contains_key(name).then_some(Self::Tags(all))
    }
}

/// Reads a list of tags.
fn tags(text: &str) -> Option<Vec<EntityTag>> {
    let mut tags = Vec::new();
    let mut rest = text.trim_start_matches([' ', '\t', ',']);
    while !rest.is_empty() {
        let (is_weak, quoted) = match rest.strip_prefix("W/") {
            Some(quoted) => (true, quoted),
            None => (false, rest),
        };
        // A tag has no escapes: it ends at the next quote.
        let (opaque, after) = quoted.strip_prefix('"')?.split_once('"')?;
        let opaque = opaque.to_owned();
        tags.push(EntityTag { opaque, is_weak });
        let after = after.trim_start_matches([' ', '\t']);
        if !after.is_empty() && !after.starts_with(',') {
            return None;
        }
        rest = after.trim_start_matches([' ', '\t', ',']);
    }
    Some(tags)
}

#[cfg(test)]
mod tests {
    use axum::http::header::IF_MATCH;

    use super::*;

    fn tag(opaque: &str, is_weak: bool) -> EntityTag {
        let opaque = opaque.to_owned();
        EntityTag { opaque, is_weak }
    }

    #[test]
    fn a_tag_is_a_hash_of_the_body() {
        let tag = EntityTag::of(b"{}");
        assert_eq!(tag.header(), "\"44136fa355b3678a1146ad16f7e8649e\"");
        assert_ne!(EntityTag::of(b"{} "), tag);
    }

    #[test]
    fn a_compressed_body_has_a_tag_of_its_own_that_means_the_same() {
        let plain = EntityTag::of(b"{}");
        let compressed = EntityTag::read(&plain.compressed()).unwrap();
        assert_ne!(compressed, plain);
        assert!(compressed.is_same(&plain) && plain.is_same(&compressed));
        assert_eq!(compressed.compressed(), plain.compressed());
    }

    #[test]
    fn lists_of_tags_are_read() {
        let (a, b, comma) = (tag("a", false), tag("b", true), tag(",", false));
        for (text, expected) in [
            ("\"a\"", vec![a.clone()]),
            ("\"a\",W/\"b\"", vec![a.clone(), b.clone()]),
            (" , \"a\" ,, W/\"b\" , \",\" ,", vec![a, b, comma]),
            ("\"\"", vec![tag("", false)]),
            ("", vec![]),
        ] {
            assert_eq!(tags(text), Some(expected), "{text}");
        }
        for malformed in ["a", "\"a", "\"a\" \"b\"", "w/\"a\"", "\"a\"b", "*, \"a\""] {
            assert_eq!(tags(malformed), None, "{malformed}");
        }
    }

    #[test]
    fn a_condition_is_read_from_all_lines_of_its_header() {
        let read = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                let value = HeaderValue::from_bytes(value.as_bytes()).unwrap();
                headers.append(IF_MATCH, value);
            }
            Condition::of(&headers, &IF_MATCH)
        };
        let (a, b) = (tag("a", false), tag("b", false));
        assert_eq!(read(&[]), None);
        assert_eq!(read(&["*"]), Some(Condition::Any));
        assert_eq!(read(&["\"a\"", "\"b\""]), Some(Condition::Tags(vec![a, b])));
        for malformed in ["a", "", "é", "\"a"] {
            assert_eq!(
                read(&[malformed]),
                Some(Condition::Tags(vec![])),
                "{malformed}"
            );
        }
    }
}
