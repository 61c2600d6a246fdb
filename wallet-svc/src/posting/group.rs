//! One try at a group: lock and read, decide in memory, write with one statement, commit.

use platform::failpoint;
use proto::wallet::v1::PostResponse;
use sqlx::{Connection as _, PgConnection};

use super::{
    load::{self, Loaded},
    poster::Poster,
    queue::{Answer, Posting, Rejection, Request},
    write,
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

/// Posts the group, or says what hindered it. `in_doubt` is what an earlier try left: whether it was
/// committed shows once the locks are held, because its transaction has ended then.
pub(super) async fn post(
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
    let (decided, verdicts) = decide(loaded, &postings);
    if !decided.book.changes.is_empty() {
        write::write_in_tx(&mut tx, &decided, group).await?;
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

fn decide(loaded: Loaded, postings: &[&Posting]) -> (Decided, Vec<Verdict>) {
    let Loaded {
        mut book, records, ..
    } = loaded;
    let mut records = records;
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
