//! One try at a group: read, decide in memory, write with one statement. What is read is locked, or
//! else has to be as it was when it is written.

use std::collections::HashMap;

use platform::{
    failpoint,
    idempotency::{Record, Scope},
};
use proto::wallet::v1::PostResponse;
use sqlx::{Connection as _, PgConnection};

use super::{
    load::{self, Loaded},
    poster::Poster,
    queue::{Answer, Posting, Rejection, Request},
    unlocked, write,
};
use crate::ledger::{Book, Step};

/// What a caller is told.
pub(super) type Verdict = Result<Answer, Rejection>;

/// A group whose commit got no answer.
pub(super) struct InDoubt {
    /// Recorded if it was committed.
    step: Step,
    verdicts: Vec<Verdict>,
}

/// Posts the group without locks, in two round trips; one that needs them is left alone, with `None`.
/// Whatever fails, a try with locks finds out what became of it.
pub(super) async fn post_unlocked(
    conn: &mut PgConnection,
    poster: &Poster,
    group: &[Request],
    in_doubt: &mut Option<InDoubt>,
) -> Result<Option<Vec<Verdict>>, sqlx::Error> {
    let postings: Vec<_> = group.iter().map(|request| &request.posting).collect();
    let Some(book) = unlocked::read(conn, poster, &postings).await? else {
        return Ok(None);
    };
    let (decided, verdicts) = decide(book, HashMap::new(), &postings);
    let Some(step) = decided.book.changes.steps.first().cloned() else {
        return Ok(Some(verdicts));
    };
    let in_doubt = in_doubt.insert(InDoubt { step, verdicts });
    write::write(conn, &decided, group).await?;
    failpoint::hit("wallet.post.committed");
    Ok(Some(std::mem::take(&mut in_doubt.verdicts)))
}

/// Posts the group under locks, or says what hindered it. `in_doubt` is what an earlier try left:
/// whether it was committed shows once the locks are held, because its transaction has ended then, or
/// will find changed what it was decided on.
pub(super) async fn post_locked(
    conn: &mut PgConnection,
    poster: &Poster,
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
        write::write(&mut tx, &decided, group).await?;
    }
    match decided.book.changes.steps.first() {
        Some(step) => {
            *in_doubt = Some(InDoubt {
                step: step.clone(),
                verdicts,
            });
            tx.commit().await?;
            failpoint::hit("wallet.post.committed");
            Ok(in_doubt.take().map_or_else(Vec::new, |done| done.verdicts))
        }
        None => tx.commit().await.map(|()| verdicts),
    }
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
                    .judge(key)
                    .map(Answer::Replay)
                    .map_err(Rejection::Key),
            );
            continue;
        }
        let before = book.changes.steps.len();
        let verdict = book.decide(&posting.command);
        causes.resize(book.changes.steps.len(), index);
        let changed = book.changes.steps.len() > before;
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
