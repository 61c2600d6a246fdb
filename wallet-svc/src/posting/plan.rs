//! A plan: what a batch writes and replies, decided in memory.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use platform::idempotency::{self, Record, Scope};

use super::{
    pending::BatchId,
    queue::{PostingError, PostingOutcome, PostingRequest, PostingResult},
    record::TransactionList,
};
use crate::ledger::{Book, OrderBonus, StatusChange};

/// A decided batch.
pub(super) struct Plan {
    pub id: BatchId,
    pub book: Book,
    /// For each status change of the book, the index of the request that caused it.
    request_of_change: Vec<usize>,
    /// The same for each revocation of a bonus.
    request_of_revocation: Vec<usize>,
    /// The records to write of idempotency keys.
    pub keys: idempotency::Columns,
    /// For each request, its result.
    pub results: Vec<PostingResult>,
    /// The earliest of the times after which its operations may not be accepted.
    pub not_after: Option<DateTime<Utc>>,
}

impl Plan {
    /// Returns the version that the batch gives to the balances that it changes.
    pub(super) const fn version(&self) -> i64 {
        self.id.version()
    }

    /// Iterates over the status changes with the requests that caused them.
    pub(super) fn changes<'p>(
        &'p self,
        requests: &'p [PostingRequest],
    ) -> impl Iterator<Item = (&'p StatusChange, &'p PostingRequest)> {
        let causes = self.request_of_change.iter().map(|index| &requests[*index]);
        self.book.changes.status_changes.iter().zip(causes)
    }

    /// Iterates over the revocations of bonuses with the requests that caused them.
    pub(super) fn revocations<'p>(
        &'p self,
        requests: &'p [PostingRequest],
    ) -> impl Iterator<Item = (&'p OrderBonus, &'p PostingRequest)> {
        let causes = self.request_of_revocation.iter();
        let causes = causes.map(|index| &requests[*index]);
        self.book.changes.revocations.iter().zip(causes)
    }
}

/// Decides each posting in order. One whose key has a record, of an earlier batch or of this one, gets
/// the recorded response.
pub(super) fn decide(
    mut book: Book,
    mut records: HashMap<Scope, Record>,
    requests: &[PostingRequest],
) -> Plan {
    let mut results = Vec::with_capacity(requests.len());
    let (mut request_of_change, mut request_of_revocation) = (Vec::new(), Vec::new());
    let mut keys = idempotency::Columns::default();
    let mut not_after: Option<DateTime<Utc>> = None;
    for (index, request) in requests.iter().enumerate() {
        let posting = &request.posting;
        let key = posting.key.as_ref();
        if let Some(key) = key
            && let Some(record) = records.get(key.scope())
        {
            let replay = record.response_for(key).map(PostingOutcome::Replayed);
            results.push(replay.map_err(PostingError::Key));
            continue;
        }
        let before = book.changes.status_changes.len();
        let decided = book.decide(&posting.command);
        request_of_change.resize(book.changes.status_changes.len(), index);
        request_of_revocation.resize(book.changes.revocations.len(), index);
        if let (Ok(transactions), Some(key)) = (&decided, key) {
            let record = keys.push(key, &TransactionList::of(transactions));
            records.insert(*key.scope(), record);
        }
        let changed = book.changes.status_changes.len() > before;
        if changed {
            not_after = not_after
                .into_iter()
                .chain(posting.command.not_after())
                .min();
        }
        let outcome = decided.map(|transactions| PostingOutcome::Committed {
            transactions,
            changed,
        });
        results.push(outcome.map_err(PostingError::Rejected));
    }
    Plan {
        id: BatchId::draw(&book.ids),
        book,
        request_of_change,
        request_of_revocation,
        keys,
        results,
        not_after,
    }
}
