//! What earlier postings left that a group goes on from: transactions to advance, operations to
//! conclude, to refund or to answer again, bonuses. Such groups take locks; what they change of it is
//! written in statements of its own, so that the others don't pay for it.

use std::collections::BTreeSet;

use sqlx::PgConnection;

use crate::{
    asset::model::AssetCode,
    ledger::{Book, Command, OrderBonus},
    transaction::{model::Transaction, repo},
};

/// Whether any of the commands goes on from earlier transactions, operations or bonuses.
pub(super) fn is_needed(commands: &[&Command]) -> bool {
    commands.iter().any(|command| command.needs_existing())
}

/// The transactions to advance, rewards that were paid before, and the transactions of operations
/// to conclude or to refund.
pub(super) async fn transactions(
    conn: &mut PgConnection,
    book: &mut Book,
    commands: &[&Command],
) -> Result<(), sqlx::Error> {
    let ids: BTreeSet<_> = commands
        .iter()
        .filter_map(|one| one.existing_transaction())
        .collect();
    let operations: BTreeSet<_> = commands
        .iter()
        .filter_map(|one| one.existing_operation())
        .collect();
    if ids.is_empty() && operations.is_empty() {
        return Ok(());
    }
    let ids: Vec<_> = ids.into_iter().collect();
    let names: Vec<_> = operations.iter().map(|&id| id.to_owned()).collect();
    let mut found = repo::lock_transactions_in_tx(conn, &ids, &names).await?;
    for tx in &found {
        book.now = book.now.max(tx.updated_at);
    }
    // The transactions of an operation in their own order, the others anywhere.
    found.sort_by_key(|tx| tx.operation.as_ref().map(|(_, index)| *index));
    let is_member = |tx: &Transaction| operation_of(tx).is_some_and(|id| operations.contains(id));
    let (members, others): (Vec<_>, Vec<_>) = found.into_iter().partition(is_member);
    refunds(conn, book, commands, &members).await?;
    keep_operations(book, members);
    keep(book, others);
    Ok(())
}

/// What was given back before of operations to refund.
async fn refunds(
    conn: &mut PgConnection,
    book: &mut Book,
    commands: &[&Command],
    members: &[Transaction],
) -> Result<(), sqlx::Error> {
    let refunded: BTreeSet<_> = commands
        .iter()
        .filter(|command| matches!(command, Command::Refund(_)))
        .filter_map(|refund| refund.existing_operation())
        .collect();
    let is_refunded = |tx: &&Transaction| operation_of(tx).is_some_and(|id| refunded.contains(id));
    let ids: Vec<_> = members.iter().filter(is_refunded).map(|tx| tx.id).collect();
    if !ids.is_empty() {
        book.refunded.extend(repo::find_refunded(conn, &ids).await?);
    }
    Ok(())
}

fn operation_of(tx: &Transaction) -> Option<&str> {
    tx.operation.as_ref().map(|(id, _)| id.as_str())
}

fn keep(book: &mut Book, transactions: Vec<Transaction>) {
    let by_id = transactions.into_iter().map(|tx| (tx.id, tx));
    book.transactions.extend(by_id);
}

/// Keeps whole operations, whose transactions come in their order.
fn keep_operations(book: &mut Book, transactions: Vec<Transaction>) {
    for tx in &transactions {
        if let Some((operation, _)) = &tx.operation {
            let made = book.operations.entry(operation.clone()).or_default();
            made.push(tx.id);
        }
    }
    keep(book, transactions);
}

/// Locks the bonuses named, and all that is owed where bonuses and rewards go to.
pub(super) async fn bonuses(
    conn: &mut PgConnection,
    book: &mut Book,
    commands: &[&Command],
) -> Result<(), sqlx::Error> {
    let (mut orders, mut wallets) = (BTreeSet::new(), BTreeSet::new());
    for command in commands {
        match command {
            Command::Bonus(change) => {
                orders.insert(change.order);
                wallets.insert(change.wallet);
            }
            Command::Reward(reward) => {
                wallets.insert(reward.wallet);
            }
            _ => {}
        }
    }
    if wallets.is_empty() {
        return Ok(());
    }
    let (orders, wallets): (Vec<_>, Vec<_>) =
        (orders.into_iter().collect(), wallets.into_iter().collect());
    let rows = sqlx::query!(
        "select order_id, wallet_id, asset_code, granted, revoked, credited, owed, created_at
         from wallet.order_bonuses
         where order_id = any($1) or (owed > 0 and wallet_id = any($2))
         order by order_id
         for update",
        orders as _,
        wallets as _,
    );
    for row in rows.fetch_all(conn).await? {
        let bonus = OrderBonus {
            order: row.order_id,
            wallet: row.wallet_id,
            asset: AssetCode::stored(&row.asset_code),
            granted: row.granted,
            revoked: row.revoked,
            credited: row.credited,
            owed: row.owed,
            created_at: row.created_at,
        };
        book.bonuses.insert(bonus.order, bonus);
    }
    Ok(())
}

/// The ids of the operations to do that this group does not know of yet.
pub(super) fn new_operations(book: &Book, commands: &[&Command]) -> Vec<String> {
    let named = commands.iter().filter_map(|one| one.new_operation());
    let ids: BTreeSet<_> = named
        .filter(|id| !book.operations.contains_key(*id))
        .collect();
    ids.into_iter().map(str::to_owned).collect()
}

/// What operations of these ids did before.
pub(super) async fn operations(
    conn: &mut PgConnection,
    book: &mut Book,
    ids: &[String],
) -> Result<(), sqlx::Error> {
    let found = repo::find_operations(conn, ids).await?;
    keep_operations(book, found);
    Ok(())
}

/// Writes what became of transactions and bonuses.
pub(super) async fn write_in_tx(conn: &mut PgConnection, book: &Book) -> Result<(), sqlx::Error> {
    if !book.changes.updated.is_empty() {
        write_transactions(conn, book).await?;
    }
    if !book.changes.bonuses.is_empty() {
        write_bonuses(conn, book).await?;
    }
    Ok(())
}

async fn write_transactions(conn: &mut PgConnection, book: &Book) -> Result<(), sqlx::Error> {
    let updated = book.changes.updated.iter();
    let updated: Vec<_> = updated.filter_map(|id| book.transactions.get(id)).collect();
    let ids: Vec<_> = updated.iter().map(|tx| tx.id).collect();
    let statuses: Vec<_> = updated.iter().map(|tx| tx.status.as_str()).collect();
    let metadata: Vec<_> = updated.iter().map(|tx| tx.metadata.as_str()).collect();
    let versions: Vec<_> = updated.iter().map(|tx| tx.version).collect();
    let processed: Vec<_> = updated.iter().map(|tx| tx.processed_at).collect();
    let write = sqlx::query!(
        "update wallet.transactions
         set status = given.status, metadata = given.metadata, version = given.version,
             processed_at = given.processed_at, updated_at = $6
         from unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::timestamptz[])
             as given (id, status, metadata, version, processed_at)
         where transactions.id = given.id",
        ids as _,
        statuses as _,
        metadata as _,
        &versions,
        processed as _,
        book.now,
    );
    let written = write.execute(conn).await?.rows_affected();
    if written != versions.len() as u64 {
        // They are locked, so there is no trying again.
        return Err(sqlx::Error::RowNotFound);
    }
    Ok(())
}

async fn write_bonuses(conn: &mut PgConnection, book: &Book) -> Result<(), sqlx::Error> {
    let changed = book.changes.bonuses.iter();
    let changed: Vec<_> = changed
        .filter_map(|order| book.bonuses.get(order))
        .collect();
    let orders: Vec<_> = changed.iter().map(|bonus| bonus.order).collect();
    let wallets: Vec<_> = changed.iter().map(|bonus| bonus.wallet).collect();
    let assets: Vec<_> = changed.iter().map(|bonus| bonus.asset.as_str()).collect();
    let granted: Vec<_> = changed.iter().map(|bonus| bonus.granted).collect();
    let revoked: Vec<_> = changed.iter().map(|bonus| bonus.revoked).collect();
    let credited: Vec<_> = changed.iter().map(|bonus| bonus.credited).collect();
    let owed: Vec<_> = changed.iter().map(|bonus| bonus.owed).collect();
    let created: Vec<_> = changed.iter().map(|bonus| bonus.created_at).collect();
    sqlx::query!(
        "insert into wallet.order_bonuses (
             order_id, wallet_id, asset_code, granted, revoked, credited, owed, created_at, updated_at)
         select given.*, $9
         from unnest(
             $1::uuid[], $2::uuid[], $3::text[], $4::numeric[], $5::numeric[], $6::numeric[],
             $7::numeric[], $8::timestamptz[]) as given
         on conflict (order_id) do update
         set granted = excluded.granted, revoked = excluded.revoked, credited = excluded.credited,
             owed = excluded.owed, updated_at = excluded.updated_at",
        orders as _,
        wallets as _,
        assets as _,
        granted as _,
        revoked as _,
        credited as _,
        owed as _,
        &created,
        book.now,
    )
    .execute(conn)
    .await?;
    Ok(())
}
