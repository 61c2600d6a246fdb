//! What was posted a moment ago. Its repeats would be found only when all of their batch was written,
//! and fail it.

use hashlink::LruCache;
use platform::idempotency::Scope;

use super::queue::Posting;

/// The most identifiers that are remembered: about a megabyte.
const CAPACITY: usize = 8_192;

/// Identifies a posting.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Identifier {
    Key(Scope),
    Operation(String),
}

/// The idempotency keys and operations of the last postings.
pub(super) struct Recent(LruCache<Identifier, ()>);

impl Recent {
    pub(super) fn new() -> Self {
        Self(LruCache::new(CAPACITY))
    }

    /// Whether the posting has the key of an earlier one, or makes the same operation.
    pub(super) fn contains(&self, posting: &Posting) -> bool {
        identifiers(posting).any(|identifier| self.0.contains_key(&identifier))
    }

    /// Remembers a posting that was accepted.
    pub(super) fn insert(&mut self, posting: &Posting) {
        for identifier in identifiers(posting) {
            self.0.insert(identifier, ());
        }
    }
}

fn identifiers(posting: &Posting) -> impl Iterator<Item = Identifier> {
    let key = posting.key.as_ref();
    let key = key.map(|key| Identifier::Key(*key.scope()));
    let operation = posting.command.new_operation();
    let operation = operation.map(|id| Identifier::Operation(id.to_owned()));
    key.into_iter().chain(operation)
}
