//! The key of a request, and the scope in which it is unique.

use sha2::{Digest as _, Sha256};
use tonic::metadata::MetadataMap;

use super::{Error, HASH, KEY, PATH};
use crate::auth::Caller;

const MAX_KEY_CHARS: usize = 255;
const MAX_HASH_BYTES: usize = 64;

/// The key of a record: the hash of caller, method, path and idempotency key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scope([u8; 32]);

impl Scope {
    /// Returns the stored form, a `bytea`.
    pub const fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Parses the stored form.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

/// An idempotency key and the hash of its request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub(super) scope: Scope,
    pub(super) request_hash: Vec<u8>,
}

impl Key {
    /// Reads the key in the metadata of the caller's request, if there is one.
    pub fn read(metadata: &MetadataMap, caller: &Caller) -> Result<Option<Self>, Error> {
        if metadata.get(KEY).is_none() {
            return Ok(None);
        }
        Self::parse(metadata, &caller.name()).map(Some)
    }

    /// Returns the key of its record; a saga stores it with its claim.
    pub const fn scope(&self) -> &Scope {
        &self.scope
    }

    fn parse(metadata: &MetadataMap, caller: &str) -> Result<Self, Error> {
        let text = |name| {
            let value = metadata.get(name).and_then(|value| value.to_str().ok());
            value.ok_or(Error::Malformed)
        };
        let (key, path) = (text(KEY)?, text(PATH)?);
        let printable = key.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        if key.is_empty() || key.len() > MAX_KEY_CHARS || !printable {
            return Err(Error::Malformed);
        }
        let mut hash = Sha256::new();
        for part in [caller, path, key] {
            // No part contains a NUL: different parts never hash the same bytes.
            hash.update(part);
            hash.update([0]);
        }
        Ok(Self {
            scope: Scope(hash.finalize().into()),
            request_hash: unhex(text(HASH)?).ok_or(Error::Malformed)?,
        })
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if text.is_empty() || text.len() > 2 * MAX_HASH_BYTES || !text.len().is_multiple_of(2) {
        return None;
    }
    let digits: Option<Vec<u32>> = text.chars().map(|digit| digit.to_digit(16)).collect();
    let byte = |pair: &[u32]| u8::try_from(pair[0] * 16 + pair[1]).ok();
    digits?.chunks_exact(2).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::Kind;

    fn parse(caller: &str, key: &str, path: &str, hash: &str) -> Result<Key, Error> {
        let mut metadata = MetadataMap::new();
        for (name, value) in [(KEY, key), (PATH, path), (HASH, hash)] {
            metadata.insert(name, value.parse().unwrap());
        }
        Key::parse(&metadata, caller)
    }

    #[test]
    fn the_scope_depends_on_caller_path_and_key() {
        let one = parse("user:a", "k", "POST /orders", "00ff").unwrap();
        assert_eq!(one.request_hash, [0, 255]);
        let other_hash = parse("user:a", "k", "POST /orders", "01").unwrap();
        assert_eq!(one.scope, other_hash.scope);
        for other in [
            parse("user:b", "k", "POST /orders", "00ff"),
            parse("user:a", "l", "POST /orders", "00ff"),
            parse("user:a", "k", "POST /users", "00ff"),
        ] {
            assert_ne!(one.scope, other.unwrap().scope);
        }
        assert_eq!(Scope::from_bytes(one.scope.as_bytes()), Some(one.scope));
    }

    #[test]
    fn a_key_has_1_to_255_printable_characters() {
        assert!(parse("user:a", &"k".repeat(255), "POST /orders", "00").is_ok());
        for (key, hash) in [
            ("", "00"),
            (&*"k".repeat(256), "00"),
            ("a\tb", "00"),
            ("k", "0g"),
            ("k", ""),
        ] {
            let result = parse("user:a", key, "POST /orders", hash);
            assert!(matches!(result, Err(Error::Malformed)), "{key:?} {hash:?}");
        }
    }

    #[test]
    fn a_request_without_a_key_has_none() {
        let caller = Caller {
            kind: Kind::User,
            subject: "a".to_owned(),
            roles: Vec::new(),
        };
        assert_eq!(Key::read(&MetadataMap::new(), &caller).unwrap(), None);
    }
}
