//! A batch of postings: an attempt reads, decides and writes it on one basis.

use std::collections::HashMap;

use platform::{
    failpoint,
    idempotency::{self, Record, Scope},
    ids::Ids,
};
use sqlx::{Connection as _, PgConnection};
use tokio::time::Instant;

use super::{
    existing,
    policy::{Attempt, Basis},
    queue::{PostingError, PostingOutcome, PostingRequest, PostingResult},
    read::{self, Locked, Wanted},
    read_set::ReadSet,
    record::TransactionList,
    session::Session,
    write,
};
use crate::ledger::{Book, StatusChange};

/// Postings that are written together.
pub(super) struct Batch {
    pub requests: Vec<PostingRequest>,
    pending_commit: Option<PendingCommit>,
}

/// A commit that got no reply.
struct PendingCommit {
    /// Recorded if it was committed.
    change: StatusChange,
    results: Vec<PostingResult>,
}

impl PendingCommit {
    /// Returns nothing for a plan without status changes, which leaves nothing to look up.
    fn of(plan: Plan) -> Option<Self> {
        let change = plan.book.changes.status_changes.into_iter().next()?;
        let results = plan.results;
        Some(Self { change, results })
    }
}

/// A decided batch.
pub(super) struct Plan {
    pub book: Book,
    /// For each status change of the book, the index of the request that caused it.
    request_of_change: Vec<usize>,
    /// The records to write of idempotency keys.
    pub keys: idempotency::Columns,
    /// For each request, its result.
    results: Vec<PostingResult>,
}

impl Plan {
    /// Iterates over the status changes with the requests that caused them.
    pub(super) fn changes<'p>(
        &'p self,
        requests: &'p [PostingRequest],
    ) -> impl Iterator<Item = (&'p StatusChange, &'p PostingRequest)> {
        let causes = self.request_of_change.iter().map(|index| &requests[*index]);
        self.book.changes.status_changes.iter().zip(causes)
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
    ) -> Attempt {
        let attempt = match basis {
            Basis::Cached => self.attempt_cached(session, ids).await,
            Basis::Read => self.attempt_read(session, ids).await,
            Basis::Locked => self.attempt_locked(session, ids).await,
        };
        attempt.unwrap_or_else(Attempt::from)
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

    async fn attempt_read(
        &mut self,
        session: &mut Session,
        ids: &Ids,
    ) -> Result<Attempt, sqlx::Error> {
        let snapshot = read::read_snapshot(&mut session.conn, &self.wanted(), ids).await?;
        let Some(snapshot) = snapshot else {
            return Ok(Attempt::Incomplete);
        };
        session.cache.set_clock(snapshot.read_at);
        let plan = decide(snapshot.book, HashMap::new(), &self.requests);
        self.write_unlocked(session, plan).await
    }

    /// Writes with one statement, which is its own transaction.
    async fn write_unlocked(
        &mut self,
        session: &mut Session,
        plan: Plan,
    ) -> Result<Attempt, sqlx::Error> {
        if plan.book.changes.is_empty() {
            return Ok(Attempt::Done(plan.results));
        }
        let written = write::write(&mut session.conn, &plan, &self.requests).await;
        if let Err(error) = written {
            let attempt = Attempt::from(error);
            if matches!(attempt, Attempt::Failed(_)) {
                self.pending_commit = PendingCommit::of(plan);
            }
            return Ok(attempt);
        }
        failpoint::hit("wallet.post.committed");
        session.cache.store(&plan.book);
        Ok(Attempt::Done(plan.results))
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
        if let Some(results) = self.resolve_pending_commit(&mut tx).await? {
            return Ok(Attempt::Done(results));
        }
        let Locked {
            book,
            records,
            read_at,
            ..
        } = locked;
        cache.set_clock(read_at);
        let plan = decide(book, records, &self.requests);
        let changes = &plan.book.changes;
        if !changes.is_empty() {
            existing::write_in_tx(&mut tx, &plan.book).await?;
            write::write(&mut tx, &plan, &self.requests).await?;
        }
        if let Err(error) = tx.commit().await {
            self.pending_commit = PendingCommit::of(plan);
            return Err(error);
        }
        if !plan.book.changes.is_empty() {
            failpoint::hit("wallet.post.committed");
        }
        cache.store(&plan.book);
        Ok(Attempt::Done(plan.results))
    }

    /// Returns the results of an earlier attempt that was committed after all. Right only under the
    /// locks of the batch: the transaction of that attempt has ended, or will find versions changed.
    async fn resolve_pending_commit(
        &mut self,
        conn: &mut PgConnection,
    ) -> Result<Option<Vec<PostingResult>>, sqlx::Error> {
        let Some(pending) = &self.pending_commit else {
            return Ok(None);
        };
        let is_committed = read::is_committed(conn, &pending.change).await?;
        let pending = self.pending_commit.take();
        let committed = pending.filter(|_| is_committed);
        Ok(committed.map(|pending| pending.results))
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
    let mut request_of_change = Vec::new();
    let mut keys = idempotency::Columns::default();
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
        if let (Ok(transactions), Some(key)) = (&decided, key) {
            keys.push(key, &TransactionList::of(transactions));
        }
        let changed = book.changes.status_changes.len() > before;
        let outcome = decided.map(|transactions| PostingOutcome::Committed {
            transactions,
            changed,
        });
        results.push(outcome.map_err(PostingError::Rejected));
    }
    Plan {
        book,
        request_of_change,
        keys,
        results,
    }
}
