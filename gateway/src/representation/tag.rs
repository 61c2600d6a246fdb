//! Entity tags: the version of the resource, where its service has one, and a hash of the body, so that a
//! tag also changes with what is embedded. `"7.5f1d…"` is plain, `"7.5f1d…-gzip"` compressed.

use std::fmt::Write as _;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use sha2::{Digest as _, Sha256};

/// What the tag of a compressed body ends in: its bytes are others.
const COMPRESSED: &str = "-gzip";
/// Bytes of the hash in a tag. Nobody gains from a collision but for bodies of their own.
const HASH_BYTES: usize = 16;

/// The version of a resource, which each change raises; an extension of responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Version(pub(crate) i64);

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

/// The header is no list of tags.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Malformed;

impl EntityTag {
    /// Makes the tag of a body that is not compressed.
    pub(super) fn of(body: &[u8], version: Option<Version>) -> Self {
        let mut opaque = version.map_or_else(String::new, |Version(it)| format!("{it}."));
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

    /// Returns the version in the tag.
    pub(super) fn version(&self) -> Option<i64> {
        let (version, _) = self.opaque.split_once('.')?;
        version.parse().ok()
    }

    fn plain(&self) -> &str {
        self.opaque.strip_suffix(COMPRESSED).unwrap_or(&self.opaque)
    }
}

impl Condition {
    /// Reads a condition, if the request has it: `*`, or at least one tag.
    pub(super) fn of(headers: &HeaderMap, name: &HeaderName) -> Result<Option<Self>, Malformed> {
        if !headers.contains_key(name) {
            return Ok(None);
        }
        let mut all = Vec::new();
        for value in headers.get_all(name) {
            let text = value.to_str().map_err(|_| Malformed)?.trim();
            if text == "*" {
                return Ok(Some(Self::Any));
            }
            all.extend(tags(text).ok_or(Malformed)?);
        }
        if all.is_empty() {
            return Err(Malformed);
        }
        Ok(Some(Self::Tags(all)))
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
    fn a_tag_has_the_version_and_a_hash_of_the_body() {
        let of =
            |body: &str, version: Option<i64>| EntityTag::of(body.as_bytes(), version.map(Version));
        let seventh = of("{}", Some(7));
        assert_eq!(seventh.header(), "\"7.44136fa355b3678a1146ad16f7e8649e\"");
        assert_eq!(seventh.version(), Some(7));
        assert_eq!(
            of("{}", None).header(),
            "\"44136fa355b3678a1146ad16f7e8649e\""
        );
        assert_eq!(of("{}", None).version(), None);
        assert_ne!(of("{} ", Some(7)), seventh);
    }

    #[test]
    fn a_compressed_body_has_a_tag_of_its_own_that_means_the_same() {
        let plain = EntityTag::of(b"{}", None);
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
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&["*"]), Ok(Some(Condition::Any)));
        let both = Condition::Tags(vec![a, b]);
        assert_eq!(read(&["\"a\"", "\"b\""]), Ok(Some(both)));
        for malformed in ["a", "", ",", "é", "\"a", "*, \"a\""] {
            assert_eq!(read(&[malformed]), Err(Malformed), "{malformed}");
        }
    }
}
