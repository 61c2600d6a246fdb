//! A batch of postings: an attempt reads, decides and writes it on one basis.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use platform::{
    failpoint,
    idempotency::{self, Record, Scope},
    ids::Ids,
};
use sqlx::Connection as _;
use tokio::time::Instant;

use super::{
    existing,
    pending::{BatchId, PendingCommit},
    policy::{Attempt, Basis},
    queue::{PostingError, PostingOutcome, PostingRequest, PostingResult},
    read::{self, Locked, Wanted},
    read_set::ReadSet,
    record::TransactionList,
    session::Session,
    write,
};
use crate::{
    ledger::{Book, OrderBonus, StatusChange},
    transaction::model::TransactionId,
};

/// Postings that are written together.
pub(super) struct Batch {
    pub requests: Vec<PostingRequest>,
    pending_commit: Option<PendingCommit>,
}

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

impl Batch {
    pub(super) const fn new(requests: Vec<PostingRequest>) -> Self {
        Self {
            requests,
            pending_commit: None,
        }
    }

    /// Whether any posting goes on from earlier ones, which takes locks.
    pub(super) fn needs_existing(&self) -> bool {
        let mut requests = self.requests.iter();
        requests.any(|request| request.posting.command.needs_existing())
    }

    /// Tries to post the batch on this basis.
    pub(super) async fn attempt(
        &mut self,
        basis: Basis,
        session: &mut Session,
        ids: &Ids,
    ) -> Result<Attempt, sqlx::Error> {
        if let Some(results) = self.resolve(session).await? {
            return Ok(Attempt::Done(results));
        }
        match basis {
            Basis::Cached => self.attempt_cached(session, ids).await,
            Basis::Locked => self.attempt_locked(session, ids).await,
        }
    }

    /// Returns the transactions of a commit of which it is not known whether it took effect.
    pub(super) fn unknown(&self) -> Option<&[TransactionId]> {
        let pending = self.pending_commit.as_ref()?;
        Some(&pending.transactions)
    }

    /// Looks up the pending commit, if any. Returns its results if it took effect.
    pub(super) async fn resolve(
        &mut self,
        session: &mut Session,
    ) -> Result<Option<Vec<PostingResult>>, sqlx::Error> {
        let Some(pending) = &self.pending_commit else {
            return Ok(None);
        };
        let is_committed = pending.is_committed(&mut session.conn).await?;
        let pending = self.pending_commit.take();
        let committed = pending.filter(|_| is_committed);
        Ok(committed.map(|pending| pending.results))
    }

    /// Returns the results of the pending commit, which took effect.
    fn committed(&mut self) -> Attempt {
        let pending = self.pending_commit.take();
        Attempt::Done(pending.map_or_else(Vec::new, |pending| pending.results))
    }

    async fn attempt_cached(
        &mut self,
        session: &mut Session,
        ids: &Ids,
    ) -> Result<Attempt, sqlx::Error> {
        let Wanted { commands, .. } = self.wanted();
        let rows = ReadSet::of_new(&commands, ids);
        let Some(book) = session.cache.snapshot(&rows, ids, Instant::now()) else {
            return Ok(Attempt::Incomplete);
        };
        let plan = decide(book, HashMap::new(), &self.requests);
        if plan.results.iter().any(Result::is_err) {
            // What rejects a posting may have changed, and it may be a repeat.
            return Ok(Attempt::Incomplete);
        }
        self.write_unlocked(session, plan).await
    }

    /// Writes with one statement, which is its own transaction.
    async fn write_unlocked(
        &mut self,
        session: &mut Session,
        mut plan: Plan,
    ) -> Result<Attempt, sqlx::Error> {
        if plan.book.changes.is_empty() {
            return Ok(Attempt::Done(plan.results));
        }
        self.pending_commit = Some(PendingCommit::of(&mut plan));
        let written = write::write(&mut session.conn, &plan, &self.requests).await;
        if let Err(error) = written {
            let attempt = Attempt::from(error);
            if !matches!(attempt, Attempt::Failed(_)) {
                self.pending_commit = None;
            }
            return Ok(attempt);
        }
        failpoint::hit("wallet.post.committed");
        session.cache.store(&plan.book, plan.version());
        Ok(self.committed())
    }

    async fn attempt_locked(
        &mut self,
        session: &mut Session,
        ids: &Ids,
    ) -> Result<Attempt, sqlx::Error> {
        let Session { conn, cache } = session;
        let mut tx = conn.begin().await?;
        let mut locked = read::lock_and_read_in_tx(&mut tx, &self.wanted(), ids).await?;
        while !locked.missing.is_empty() {
            tx.rollback().await?;
            read::create_balances(conn, &locked.missing).await?;
            tx = conn.begin().await?;
            locked = read::lock_and_read_in_tx(&mut tx, &self.wanted(), ids).await?;
        }
        let Locked {
            book,
            records,
            read_at,
            ..
        } = locked;
        cache.set_clock(read_at);
        let mut plan = decide(book, records, &self.requests);
        // Decided by the clock under the locks, which are held until the commit.
        plan.not_after = None;
        let is_changed = !plan.book.changes.is_empty();
        if is_changed {
            existing::write_in_tx(&mut tx, &plan.book).await?;
            write::write(&mut tx, &plan, &self.requests).await?;
        }
        self.pending_commit = Some(PendingCommit::of(&mut plan));
        tx.commit().await?;
        if is_changed {
            failpoint::hit("wallet.post.committed");
        }
        cache.store(&plan.book, plan.version());
        Ok(self.committed())
    }

    fn wanted(&self) -> Wanted<'_> {
        let postings = self.requests.iter().map(|request| &request.posting);
        let keys = postings.clone().filter_map(|posting| posting.key.as_ref());
        Wanted {
            commands: postings.map(|posting| &posting.command).collect(),
            scopes: keys.map(|key| *key.scope()).collect(),
        }
    }
}

/// Decides each posting in order. One whose key has a record gets the recorded response.
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
            && let Some(record) = records.remove(key.scope())
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
            keys.push(key, &TransactionList::of(transactions));
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
