//! Writes everything a group decided with one statement.

use platform::{idempotency, messaging::outbox};
use proto::wallet::v1::PostResponse;
use sqlx::{PgConnection, Postgres, postgres::PgArguments, query::Query};

use super::{
    columns::{Assets, Balances, Bonuses, ChangedTransactions, Movements, NewTransactions, Steps},
    group::Decided,
    queue::Request,
};
use crate::transaction::{convert, events, model::Transaction};

/// The one statement.
pub(super) type Write<'q> = Query<'q, Postgres, PgArguments>;

/// The answer that is recorded for an idempotency key. All answers that carry transactions have
/// them as field 1, so that this decodes as each of them.
pub(super) fn answer(transactions: &[Transaction]) -> PostResponse {
    let transactions = transactions.iter().map(convert::transaction).collect();
    PostResponse { transactions }
}

/// Writes the group's changes, events and idempotency records: all of it, or nothing and fails with
/// `40001` if any row that it was decided on is not as it was read. Outside a transaction it commits.
pub(super) async fn write(
    conn: &mut PgConnection,
    decided: &Decided,
    group: &[Request],
) -> Result<(), sqlx::Error> {
    let book = &decided.book;
    let created = NewTransactions::of(book);
    let changed = ChangedTransactions::of(book);
    let movements = Movements::of(book);
    let steps = Steps::of(decided, group);
    let balances = Balances::of(book);
    let bonuses = Bonuses::of(book);
    let keys = keys(decided, group);
    let outbox = outbox(decided, group);

    let assets = Assets::of(book);
    let current = changed.len() + balances.len() + assets.len();

    let write: Write<'_> = sqlx::query(include_str!("write.sql"));
    let write = created.bind_to(write);
    let write = changed.bind_to(write);
    let write = movements.bind_to(write);
    let write = steps.bind_to(write);
    let write = balances.bind_to(write);
    let write = bonuses.bind_to(write);
    let write = bind_keys(&keys, write).bind(book.now);
    let write = bind_outbox(&outbox, write);
    let write = assets.bind_to(write);
    let current = i64::try_from(current).unwrap_or(i64::MAX);
    write.bind(current).execute(conn).await?;
    outbox::wake();
    Ok(())
}

/// The events, each made in the span of its request, whose trace the consumers continue.
fn outbox(decided: &Decided, group: &[Request]) -> outbox::Columns {
    let mut columns = outbox::Columns::default();
    let book = &decided.book;
    for (step, cause) in book.changes.steps.iter().zip(&decided.causes) {
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
