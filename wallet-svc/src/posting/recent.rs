//! What was posted a moment ago. Its repeats would be found only when all of their batch was written,
//! and fail it.

use hashlink::LruCache;
use platform::idempotency::Scope;

use super::queue::Posting;

/// The most keys that are remembered, and the most operations: about a megabyte.
const CAPACITY: usize = 8_192;

/// The idempotency keys and operations of the last postings.
pub(super) struct Recent {
    keys: LruCache<Scope, ()>,
    operations: LruCache<String, ()>,
}

impl Recent {
    pub(super) fn new() -> Self {
        Self {
            keys: LruCache::new(CAPACITY),
            operations: LruCache::new(CAPACITY),
        }
    }

    /// Whether the posting has the key of an earlier one, or makes the same operation.
    pub(super) fn contains(&self, posting: &Posting) -> bool {
        let (key, operation) = (&posting.key, posting.command.new_operation());
        key.as_ref()
            .is_some_and(|key| self.keys.contains_key(key.scope()))
            || operation.is_some_and(|id| self.operations.contains_key(id))
    }

    /// Remembers a posting that was accepted.
    pub(super) fn insert(&mut self, posting: &Posting) {
        if let Some(key) = &posting.key {
            self.keys.insert(*key.scope(), ());
        }
        if let Some(id) = posting.command.new_operation() {
            self.operations.insert(id.to_owned(), ());
        }
    }
}
