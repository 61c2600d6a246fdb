//! Writes what a group decided with one statement, but for what changes earlier transactions and
//! bonuses.

use platform::{idempotency, messaging::outbox};
use proto::wallet::v1::PostResponse;
use sqlx::{PgConnection, Postgres, error::DatabaseError, postgres::PgArguments, query::Query};

use super::{
    columns::{Assets, Balances, Movements, NewTransactions, Steps},
    group::Decided,
    queue::Request,
};
use crate::transaction::{convert, events, model::Transaction};

/// What `wallet.ensure_current` fails with.
const STALE: &str = "GD001";

/// The one statement.
pub(super) type Write<'q> = Query<'q, Postgres, PgArguments>;

/// The answer that is recorded for an idempotency key. All answers that carry transactions have
/// them as field 1, so that this decodes as each of them.
pub(super) fn answer(transactions: &[Transaction]) -> PostResponse {
    let transactions = transactions.iter().map(convert::transaction).collect();
    PostResponse { transactions }
}

/// Writes what the group makes and moves, its events and idempotency records: all of it, or nothing
/// and fails with [`STALE`] if any row that it was decided on is not as it was read. Outside a
/// transaction it commits.
pub(super) async fn write(
    conn: &mut PgConnection,
    decided: &Decided,
    group: &[Request],
) -> Result<(), sqlx::Error> {
    let book = &decided.book;
    let steps = Steps::of(decided, group);
    let balances = Balances::of(book);
    let keys = keys(decided, group);
    let outbox = outbox(decided, group);
    let assets = Assets::of(book);
    let current = i64::try_from(balances.len() + assets.len()).unwrap_or(i64::MAX);

    let write: Write<'_> = sqlx::query(include_str!("write.sql"));
    let write = NewTransactions::of(book).bind_to(write);
    let write = Movements::of(book).bind_to(write);
    let write = steps.bind_to(write);
    let write = balances.bind_to(write);
    let write = bind_keys(&keys, write).bind(book.now);
    let write = bind_outbox(&outbox, write);
    let write = assets.bind_to(write);
    write.bind(current).execute(conn).await?;
    outbox::wake();
    Ok(())
}

/// Whether a write failed because something had changed since it was read.
pub(super) fn is_stale(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(DatabaseError::code);
    code.is_some_and(|code| code == STALE)
}

/// The events, each made in the span of its request, whose trace the consumers continue.
fn outbox(decided: &Decided, group: &[Request]) -> outbox::Columns {
    let mut columns = outbox::Columns::default();
    let book = &decided.book;
    for (step, cause) in book.changes.status_changes.iter().zip(&decided.causes) {
        let Some(tx) = book.transactions.get(&step.transaction) else {
            continue;
        };
        let messages = group[*cause]
            .span
            .in_scope(|| events::messages(tx, step, &book.ids));
        for message in messages {
            columns.push(message);
        }
    }
    columns
}

fn bind_outbox<'q>(columns: &'q outbox::Columns, write: Write<'q>) -> Write<'q> {
    write
        .bind(&columns.ids)
        .bind(&columns.event_types)
        .bind(&columns.aggregate_kinds)
        .bind(&columns.aggregate_ids)
        .bind(&columns.aggregate_versions)
        .bind(&columns.bodies)
        .bind(&columns.traceparents)
}

fn keys(decided: &Decided, group: &[Request]) -> idempotency::Columns {
    let mut columns = idempotency::Columns::default();
    for (index, answer) in &decided.answers {
        if let Some(key) = &group[*index].posting.key {
            columns.push(key, answer);
        }
    }
    columns
}

fn bind_keys<'q>(columns: &'q idempotency::Columns, write: Write<'q>) -> Write<'q> {
    write
        .bind(&columns.scopes)
        .bind(&columns.request_hashes)
        .bind(&columns.answers)
}
