//! Writes a decided batch with one statement, except changes of existing transactions and bonuses.

use std::sync::OnceLock;

use platform::messaging::outbox;
use sqlx::{PgConnection, error::DatabaseError};

use super::{parameters::Parameters, plan::Plan, queue::PostingRequest};
use crate::{
    ledger::{Account, Book},
    transaction::{
        events,
        model::{Status, Transaction},
    },
};

/// The error code of `wallet.ensure_current`.
const CONFLICT: &str = "GD001";

static STATEMENT: OnceLock<String> = OnceLock::new();

/// Writes the new transactions, movements, status changes, balances, events and idempotency records
/// of the plan. Fails with a conflict, and writes nothing, if a balance or asset is not as it was
/// read, or if the plan's time is over. Outside a transaction it commits.
pub(super) async fn write(
    conn: &mut PgConnection,
    plan: &Plan,
    requests: &[PostingRequest],
) -> Result<(), sqlx::Error> {
    let parameters = parameters(plan, requests);
    let statement = STATEMENT.get_or_init(|| statement(&parameters));
    let arguments = parameters.into_arguments()?;
    sqlx::query_with(statement.as_str(), arguments)
        .execute(conn)
        .await?;
    outbox::wake();
    Ok(())
}

/// Whether a write failed because a row had changed since it was read, or because it was too late.
pub(super) fn is_conflict(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(DatabaseError::code);
    code.is_some_and(|code| code == CONFLICT)
}

fn statement(parameters: &Parameters) -> String {
    parameters.assemble(include_str!("write.sql"))
}

fn parameters(plan: &Plan, requests: &[PostingRequest]) -> Parameters {
    let book = &plan.book;
    let mut parameters = Parameters::default();
    add_transactions(&mut parameters, book);
    add_movements(&mut parameters, book);
    add_status_changes(&mut parameters, plan, requests);
    add_balances(&mut parameters, book);
    add_keys(&mut parameters, plan);
    add_events(&mut parameters, plan, requests);
    add_assets(&mut parameters, book);
    let rows = book.changes.accounts.len() + book.assets.len();
    parameters.value("batch", plan.id.uuid());
    parameters.value("version", plan.version());
    parameters.value("now", book.now);
    parameters.value("expected", i64::try_from(rows).unwrap_or(i64::MAX));
    parameters.value("not_after", plan.not_after);
    parameters
}

fn add_transactions(parameters: &mut Parameters, book: &Book) {
    let created = book.changes.created.iter();
    let rows: Vec<&Transaction> = created.filter_map(|id| book.transactions.get(id)).collect();
    parameters
        .table("transactions", &rows)
        .column("id", |tx| tx.id)
        .column("type", |tx| tx.kind.as_str())
        .column("code", |tx| tx.code.as_str())
        .column("status", |tx| tx.status.as_str())
        .column("asset_code", |tx| tx.asset.as_str())
        .column("amount", |tx| tx.amount)
        .column("origin_wallet_id", |tx| tx.origin())
        .column("destination_wallet_id", |tx| tx.destination())
        .column("system_wallet_id", |tx| tx.system_wallet())
        .column("reference", |tx| tx.reference.as_str())
        .column("metadata", |tx| tx.metadata.as_str())
        .column("operation_id", |tx| {
            tx.operation.as_ref().map(|(id, _)| id.as_str())
        })
        .column("operation_index", |tx| {
            tx.operation.as_ref().map(|(_, index)| *index)
        })
        .column("version", |tx| tx.version)
        .column("processed_at", |tx| tx.processed_at)
        .column("description", |tx| tx.notes.description.as_deref())
        .column("origin_address", |tx| tx.notes.origin_address.as_deref())
        .column("destination_address", |tx| {
            tx.notes.destination_address.as_deref()
        })
        .column("external_reference", |tx| {
            tx.notes.external_reference.as_deref()
        })
        .column("custom_data", |tx| {
            tx.notes.custom_data.as_deref().unwrap_or("{}")
        })
        .column("created_at", |tx| tx.created_at)
        .column("refunds_id", |tx| tx.refunds);
}

fn add_movements(parameters: &mut Parameters, book: &Book) {
    parameters
        .table("movements", &book.changes.movements)
        .column("id", |movement| movement.id)
        .column("wallet_id", |movement| movement.wallet)
        .column("asset_code", |movement| movement.asset.as_str())
        .column("sequence", |movement| movement.sequence)
        .column("transaction_id", |movement| movement.transaction)
        .column("amount", |movement| movement.amount)
        .column("balance_after", |movement| movement.balance_after)
        .column("code", |movement| movement.kind.as_str());
}

fn add_status_changes(parameters: &mut Parameters, plan: &Plan, requests: &[PostingRequest]) {
    let rows: Vec<_> = plan.changes(requests).collect();
    parameters
        .table("changes", &rows)
        .column("transaction_id", |(change, _)| change.transaction)
        .column("version", |(change, _)| change.version)
        .column("from_status", |(change, _)| change.from.map(Status::as_str))
        .column("to_status", |(change, _)| change.to.as_str())
        .column("actor", |(_, request)| request.posting.actor.as_str());
}

fn add_balances(parameters: &mut Parameters, book: &Book) {
    let changed = book.changes.accounts.iter();
    let rows: Vec<&Account> = changed.filter_map(|key| book.accounts.get(key)).collect();
    parameters
        .table("balances", &rows)
        .column("wallet_id", |account| account.key.wallet)
        .column("asset_code", |account| account.key.asset.as_str())
        .column("amount", |account| account.amount)
        .column("held", |account| account.held)
        .column("incoming", |account| account.incoming)
        .column("sequence", |account| account.sequence)
        .column("moved_at", |account| account.moved_at)
        .column("version", |account| account.version);
}

fn add_keys(parameters: &mut Parameters, plan: &Plan) {
    let keys = &plan.keys;
    parameters
        .table::<()>("keys", &[])
        .array("scope", &keys.scopes)
        .array("request_hash", &keys.request_hashes)
        .array("response", &keys.responses);
}

/// Adds the events, each made in the span of its request, whose trace the consumers continue.
fn add_events(parameters: &mut Parameters, plan: &Plan, requests: &[PostingRequest]) {
    let mut columns = outbox::Columns::default();
    let book = &plan.book;
    for (change, request) in plan.changes(requests) {
        let Some(tx) = book.transactions.get(&change.transaction) else {
            continue;
        };
        let message = || events::status_changed(tx, change, &book.ids);
        columns.push(request.span.in_scope(message));
    }
    for (bonus, request) in plan.revocations(requests) {
        let message = || events::bonus_revoked(bonus, &book.ids);
        columns.push(request.span.in_scope(message));
    }
    parameters
        .table::<()>("events", &[])
        .array("id", &columns.ids)
        .array("event_type", &columns.event_types)
        .array("aggregate_kind", &columns.aggregate_kinds)
        .array("aggregate_id", &columns.aggregate_ids)
        .array("aggregate_version", &columns.aggregate_versions)
        .array("body", &columns.bodies)
        .array("traceparent", &columns.traceparents);
}

fn add_assets(parameters: &mut Parameters, book: &Book) {
    let rows: Vec<_> = book.assets.iter().collect();
    parameters
        .table("assets", &rows)
        .column("code", |(code, _)| code.as_str())
        .column("version", |(_, state)| state.version);
}

#[cfg(test)]
mod tests;
