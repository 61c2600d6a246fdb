//! A batch of postings: an attempt reads, decides and writes it on one basis.

use std::collections::{BTreeSet, HashMap};

use platform::{failpoint, ids::Ids};
use sqlx::Connection as _;
use tokio::time::Instant;

use super::{
    existing,
    pending::PendingCommit,
    plan::{Plan, decide},
    policy::{Attempt, Basis, fails_alone, is_contention},
    queue::{PostingError, PostingRequest, PostingResult},
    read::{self, Locked, Wanted},
    read_set::ReadSet,
    session::Session,
    write,
};
use crate::{ledger::AccountKey, transaction::model::TransactionId};

/// Postings that are written together.
pub(super) struct Batch {
    pub requests: Vec<PostingRequest>,
    /// Whether the postings were made before, most likely.
    are_repeats: bool,
    /// Whether the postings need balances that somebody else has locked.
    is_contended: bool,
    pending_commit: Option<PendingCommit>,
}

/// The parts of a batch that fails. Few steps lead to a single posting, and few postings wait for it.
const PARTS: usize = 8;

impl Batch {
    /// Makes a batch of postings that were not made before, most likely.
    pub(super) const fn new(requests: Vec<PostingRequest>) -> Self {
        Self {
            requests,
            are_repeats: false,
            is_contended: false,
            pending_commit: None,
        }
    }

    /// Makes a batch of postings that were made before, most likely.
    pub(super) fn of_repeats(requests: Vec<PostingRequest>) -> Self {
        Self {
            are_repeats: true,
            ..Self::new(requests)
        }
    }

    /// Whether any posting goes on from earlier ones or repeats one, which takes locks.
    pub(super) fn needs_locks(&self) -> bool {
        let mut requests = self.requests.iter();
        self.are_repeats
            || self.is_contended
            || requests.any(|request| request.posting.command.needs_existing())
    }

    /// Whether the batch is the part of another that has waited for locked balances.
    pub(super) const fn is_contended(&self) -> bool {
        self.is_contended
    }

    /// Whether parts of the batch may succeed after this error.
    pub(super) fn is_divisible(&self, error: &sqlx::Error) -> bool {
        let has_free_parts = !(self.is_contended && is_contention(error));
        self.requests.len() > 1 && fails_alone(error) && has_free_parts
    }

    /// Returns the balances that the batch needs and somebody else has locked.
    pub(super) async fn find_locked(
        &self,
        session: &mut Session,
        ids: &Ids,
    ) -> Result<BTreeSet<AccountKey>, sqlx::Error> {
        let rows = ReadSet::of_new(&self.wanted().commands, ids);
        read::find_locked(&mut session.conn, &rows.accounts).await
    }

    /// Divides the batch into the postings that need none of these balances, and those that do; or
    /// into smaller parts, if no posting needs them.
    pub(super) fn divide(self, locked: &BTreeSet<AccountKey>, ids: &Ids) -> Vec<Self> {
        let is_contended = |request: &PostingRequest| {
            let needed = ReadSet::of_new(&[&request.posting.command], ids).accounts;
            !needed.is_disjoint(locked)
        };
        if !self.requests.iter().any(is_contended) {
            return self.split().collect();
        }
        let are_repeats = self.are_repeats;
        let (contended, free) = self.requests.into_iter().partition(is_contended);
        let part = |requests, is_contended| Self {
            are_repeats,
            is_contended,
            ..Self::new(requests)
        };
        vec![part(free, false), part(contended, true)]
    }

    /// Divides the batch into smaller ones.
    pub(super) fn split(self) -> impl Iterator<Item = Self> {
        let size = self.requests.len().div_ceil(PARTS).max(1);
        let mut requests = self.requests.into_iter();
        std::iter::from_fn(move || {
            let part: Vec<_> = requests.by_ref().take(size).collect();
            (!part.is_empty()).then_some(part)
        })
        .map(move |requests| Self {
            are_repeats: self.are_repeats,
            is_contended: self.is_contended,
            ..Self::new(requests)
        })
    }

    /// Rejects the postings that nobody waits for any longer: if their callers try again, they have
    /// not happened.
    fn drop_expired(&mut self) {
        let now = Instant::now();
        let expired = self.requests.extract_if(.., |one| one.is_expired(now));
        for request in expired {
            metrics::counter!("wallet_postings_expired_total").increment(1);
            request.reply(Err(PostingError::Unavailable));
        }
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
        self.drop_expired();
        if self.requests.is_empty() {
            return Ok(Attempt::Done(Vec::new()));
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
