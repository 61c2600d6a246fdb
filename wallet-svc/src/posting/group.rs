//! One try at a group: read or recall, decide in memory, write. What it is decided on is locked, or
//! else has to be as it was when it is written.

use std::collections::HashMap;

use platform::{
    failpoint,
    idempotency::{Record, Scope},
};
use proto::wallet::v1::PostResponse;
use sqlx::{Connection as _, PgConnection};
use tokio::time::Instant;

use super::{
    earlier,
    load::{self, Loaded},
    needs::Needs,
    poster::Poster,
    queue::{Answer, Posting, Rejection, Request},
    unlocked, write,
};
use crate::ledger::{Book, StatusChange};

/// What a caller is told.
pub(super) type Verdict = Result<Answer, Rejection>;

/// A group whose commit got no answer.
pub(super) struct InDoubt {
    /// Recorded if it was committed.
    step: StatusChange,
    verdicts: Vec<Verdict>,
}

/// Posts the group without locks: on what earlier groups left, or else on what it reads. One that
/// needs locks is left alone, with `None`. Whatever fails, a try with locks finds out what became of
/// it.
pub(super) async fn post_unlocked(
    conn: &mut PgConnection,
    poster: &mut Poster,
    group: &[Request],
    in_doubt: &mut Option<InDoubt>,
) -> Result<Option<Vec<Verdict>>, sqlx::Error> {
    let postings: Vec<_> = group.iter().map(|request| &request.posting).collect();
    let Some(needs) = Needs::of_new(&postings, &poster.ids) else {
        return Ok(None);
    };
    if let Some(decided) = decide_from_memory(poster, &needs, &postings) {
        match write_at_once(conn, poster, group, decided, in_doubt).await {
            Err(sqlx::Error::Database(error)) => {
                tracing::debug!(%error, "what was remembered does not do");
                poster.memory.distrust();
            }
            written => return written.map(Some),
        }
    }
    let Some(book) = unlocked::read(conn, poster, &postings, &needs).await? else {
        return Ok(None);
    };
    let decided = decide(book, HashMap::new(), &postings);
    let written = write_at_once(conn, poster, group, decided, in_doubt).await;
    written.map(Some)
}

/// `None` where not all is remembered, or it refuses any of them: what refuses it may have changed,
/// and it may have been done before.
fn decide_from_memory(
    poster: &mut Poster,
    needs: &Needs,
    postings: &[&Posting],
) -> Option<(Decided, Vec<Verdict>)> {
    let book = poster.memory.recall(needs, &poster.ids, Instant::now())?;
    let (decided, verdicts) = decide(book, HashMap::new(), postings);
    let accepted = verdicts.iter().all(Result::is_ok);
    accepted.then_some((decided, verdicts))
}

/// Writes with one statement, which commits.
async fn write_at_once(
    conn: &mut PgConnection,
    poster: &mut Poster,
    group: &[Request],
    (decided, verdicts): (Decided, Vec<Verdict>),
    in_doubt: &mut Option<InDoubt>,
) -> Result<Vec<Verdict>, sqlx::Error> {
    let Some(step) = decided.book.changes.status_changes.first().cloned() else {
        return Ok(verdicts);
    };
    let in_doubt = in_doubt.insert(InDoubt { step, verdicts });
    let written = write::write(conn, &decided, group).await;
    written.inspect_err(|error| {
        if write::is_stale(error) {
            metrics::counter!("wallet_groups_beaten_total").increment(1);
        }
    })?;
    failpoint::hit("wallet.post.committed");
    poster.memory.learn(&decided.book);
    Ok(std::mem::take(&mut in_doubt.verdicts))
}

/// Posts the group under locks, or says what hindered it. `in_doubt` is what an earlier try left:
/// whether it was committed shows once the locks are held, because its transaction has ended then, or
/// will find changed what it was decided on.
pub(super) async fn post_locked(
    conn: &mut PgConnection,
    poster: &mut Poster,
    group: &[Request],
    in_doubt: &mut Option<InDoubt>,
) -> Result<Vec<Verdict>, sqlx::Error> {
    let postings: Vec<_> = group.iter().map(|request| &request.posting).collect();
    let mut tx = conn.begin().await?;
    let mut loaded = load::load_in_tx(&mut tx, poster, &postings).await?;
    if !loaded.missing.is_empty() {
        tx.rollback().await?;
        load::make_balances(&poster.pool, &loaded.missing).await?;
        tx = conn.begin().await?;
        loaded = load::load_in_tx(&mut tx, poster, &postings).await?;
    }
    if let Some(earlier) = in_doubt.take()
        && load::is_committed(&mut tx, &earlier.step).await?
    {
        return Ok(earlier.verdicts);
    }
    let Loaded { book, records, .. } = loaded;
    let (decided, verdicts) = decide(book, records, &postings);
    if !decided.book.changes.is_empty() {
        earlier::write_in_tx(&mut tx, &decided.book).await?;
        write::write(&mut tx, &decided, group).await?;
    }
    let verdicts = if let Some(step) = decided.book.changes.status_changes.first().cloned() {
        *in_doubt = Some(InDoubt { step, verdicts });
        tx.commit().await?;
        failpoint::hit("wallet.post.committed");
        in_doubt.take().map_or_else(Vec::new, |done| done.verdicts)
    } else {
        tx.commit().await?;
        verdicts
    };
    poster.memory.learn(&decided.book);
    Ok(verdicts)
}

/// What a group decided, with which of its requests each part belongs to.
pub(super) struct Decided {
    pub book: Book,
    /// For each step of the book's changes, the request that caused it.
    pub causes: Vec<usize>,
    /// The answers to record, each with its request.
    pub answers: Vec<(usize, PostResponse)>,
}

fn decide(
    mut book: Book,
    mut records: HashMap<Scope, Record>,
    postings: &[&Posting],
) -> (Decided, Vec<Verdict>) {
    let mut decided = Vec::new();
    let mut causes = Vec::new();
    let mut answers = Vec::new();
    for (index, posting) in postings.iter().enumerate() {
        let record = posting
            .key
            .as_ref()
            .and_then(|key| Some((records.remove(key.scope())?, key)));
        if let Some((record, key)) = record {
            decided.push(
                record
                    .response_for(key)
                    .map(Answer::Replay)
                    .map_err(Rejection::Key),
            );
            continue;
        }
        let before = book.changes.status_changes.len();
        let verdict = book.decide(&posting.command);
        causes.resize(book.changes.status_changes.len(), index);
        let changed = book.changes.status_changes.len() > before;
        if let (Ok(transactions), Some(_)) = (&verdict, &posting.key) {
            answers.push((index, write::answer(transactions)));
        }
        let verdict = verdict.map(|transactions| Answer::Done {
            transactions,
            changed,
        });
        decided.push(verdict.map_err(Rejection::Refused));
    }
    let decided_book = Decided {
        book,
        causes,
        answers,
    };
    (decided_book, decided)
}
