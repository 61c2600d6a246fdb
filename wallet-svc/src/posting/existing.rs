//! Rows of earlier postings that a batch goes on from: transactions to advance, operations to end, to
//! refund or to repeat, bonuses. They are locked, and their changes have statements of their own, so
//! that batches of new transactions do not pay for them.

use std::collections::BTreeSet;

use platform::pg::ensure_affected;
use sqlx::PgConnection;

use crate::{
    asset::model::AssetCode,
    ledger::{Beneficiary, BonusKey, Book, Command, OrderBonus},
    transaction::{model::Transaction, repo},
};

/// Locks and reads the transactions to advance, the rewards paid before, and the transactions of
/// operations to end or to refund.
pub(super) async fn lock_transactions(
    conn: &mut PgConnection,
    book: &mut Book,
    commands: &[&Command],
) -> Result<(), sqlx::Error> {
    let all = commands.iter();
    let ids: BTreeSet<_> = all
        .clone()
        .filter_map(|one| one.existing_transaction())
        .collect();
    let operations: BTreeSet<_> = all.filter_map(|one| one.existing_operation()).collect();
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
    read_refunded(conn, book, commands, &members).await?;
    insert_operations(book, members);
    insert_transactions(book, others);
    Ok(())
}

/// Reads how much of the operations to refund was refunded before.
async fn read_refunded(
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

fn insert_transactions(book: &mut Book, transactions: Vec<Transaction>) {
    let by_id = transactions.into_iter().map(|tx| (tx.id, tx));
    book.transactions.extend(by_id);
}

/// Adds whole operations, whose transactions are in their order.
fn insert_operations(book: &mut Book, transactions: Vec<Transaction>) {
    for tx in &transactions {
        if let Some((operation, _)) = &tx.operation {
            let members = book.operations.entry(operation.clone()).or_default();
            members.push(tx.id);
        }
    }
    insert_transactions(book, transactions);
}

/// Locks and reads the named bonuses, and those still owed on the wallets that bonuses and rewards
/// credit.
pub(super) async fn lock_bonuses(
    conn: &mut PgConnection,
    book: &mut Book,
    commands: &[&Command],
) -> Result<(), sqlx::Error> {
    let (mut orders, mut wallets) = (BTreeSet::new(), BTreeSet::new());
    for command in commands {
        match command {
            Command::Bonus(change) => {
                orders.insert(change.key.order);
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
        // A lateral join, so that each row is found by its key, however few there were when it was planned.
        "/* posting.lock_bonuses */
         select bonus.* from (
             select order_id, beneficiary from wallet.order_bonuses where order_id = any($1)
             union
             select order_id, beneficiary from wallet.order_bonuses where owed > 0 and wallet_id = any($2)
             order by order_id, beneficiary) as given
         cross join lateral (
             select order_id, beneficiary, wallet_id, asset_code, granted, revoked, credited, owed, version, created_at
             from wallet.order_bonuses
             where order_id = given.order_id and beneficiary = given.beneficiary
             for update) as bonus",
        orders as _,
        wallets as _,
    )
    .fetch_all(conn)
    .await?;
    for row in rows {
        // The column's check allows no other text.
        let beneficiary = Beneficiary::find(&row.beneficiary).unwrap_or(Beneficiary::Buyer);
        let bonus = OrderBonus {
            key: BonusKey {
                order: row.order_id,
                beneficiary,
            },
            wallet: row.wallet_id,
            asset: AssetCode::stored(&row.asset_code),
            granted: row.granted,
            revoked: row.revoked,
            credited: row.credited,
            owed: row.owed,
            version: row.version,
            created_at: row.created_at,
        };
        book.bonuses.insert(bonus.key, bonus);
    }
    Ok(())
}

/// Returns the ids of the operations that the commands make, unless the book has them.
pub(super) fn new_operations(book: &Book, commands: &[&Command]) -> Vec<String> {
    let ids: BTreeSet<_> = commands
        .iter()
        .filter_map(|one| one.new_operation())
        .filter(|id| !book.operations.contains_key(*id))
        .collect();
    ids.into_iter().map(str::to_owned).collect()
}

/// Reads the transactions of operations that are repeated.
pub(super) async fn read_operations(
    conn: &mut PgConnection,
    book: &mut Book,
    ids: &[String],
) -> Result<(), sqlx::Error> {
    let found = repo::find_operations(conn, ids).await?;
    insert_operations(book, found);
    Ok(())
}

/// Writes the changes of existing transactions and of bonuses.
pub(super) async fn write_in_tx(conn: &mut PgConnection, book: &Book) -> Result<(), sqlx::Error> {
    if !book.changes.updated.is_empty() {
        update_transactions(conn, book).await?;
    }
    if !book.changes.bonuses.is_empty() {
        upsert_bonuses(conn, book).await?;
    }
    Ok(())
}

async fn update_transactions(conn: &mut PgConnection, book: &Book) -> Result<(), sqlx::Error> {
    let updated = book.changes.updated.iter();
    let updated: Vec<_> = updated.filter_map(|id| book.transactions.get(id)).collect();
    let ids: Vec<_> = updated.iter().map(|tx| tx.id).collect();
    let statuses: Vec<_> = updated.iter().map(|tx| tx.status.as_str()).collect();
    let metadata: Vec<_> = updated.iter().map(|tx| tx.metadata.as_str()).collect();
    let versions: Vec<_> = updated.iter().map(|tx| tx.version).collect();
    let processed: Vec<_> = updated.iter().map(|tx| tx.processed_at).collect();
    let written = sqlx::query!(
        "/* posting.update_transactions */
         update wallet.transactions
         set status = input.status, metadata = input.metadata, version = input.version,
             processed_at = input.processed_at, updated_at = $6
         from unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::timestamptz[])
             as input (id, status, metadata, version, processed_at)
         where transactions.id = input.id",
        ids as _,
        statuses as _,
        metadata as _,
        &versions,
        processed as _,
        book.now,
    )
    .execute(conn)
    .await?;
    ensure_affected(written, book.changes.updated.len() as u64)
}

async fn upsert_bonuses(conn: &mut PgConnection, book: &Book) -> Result<(), sqlx::Error> {
    let changed = book.changes.bonuses.iter();
    let changed: Vec<_> = changed.filter_map(|key| book.bonuses.get(key)).collect();
    let orders: Vec<_> = changed.iter().map(|bonus| bonus.key.order).collect();
    let beneficiaries: Vec<_> = changed
        .iter()
        .map(|bonus| bonus.key.beneficiary.as_str())
        .collect();
    let wallets: Vec<_> = changed.iter().map(|bonus| bonus.wallet).collect();
    let assets: Vec<_> = changed.iter().map(|bonus| bonus.asset.as_str()).collect();
    let granted: Vec<_> = changed.iter().map(|bonus| bonus.granted).collect();
    let revoked: Vec<_> = changed.iter().map(|bonus| bonus.revoked).collect();
    let credited: Vec<_> = changed.iter().map(|bonus| bonus.credited).collect();
    let owed: Vec<_> = changed.iter().map(|bonus| bonus.owed).collect();
    let versions: Vec<_> = changed.iter().map(|bonus| bonus.version).collect();
    let created: Vec<_> = changed.iter().map(|bonus| bonus.created_at).collect();
    let written = sqlx::query!(
        "/* posting.upsert_bonuses */
         insert into wallet.order_bonuses (
             order_id, beneficiary, wallet_id, asset_code, granted, revoked, credited, owed, version,
             created_at, updated_at)
         select input.*, $11
         from unnest(
             $1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::numeric[], $6::numeric[],
             $7::numeric[], $8::numeric[], $9::bigint[], $10::timestamptz[]) as input
         on conflict (order_id, beneficiary) do update
         set granted = excluded.granted, revoked = excluded.revoked, credited = excluded.credited,
             owed = excluded.owed, version = excluded.version, updated_at = excluded.updated_at
         where order_bonuses.wallet_id = excluded.wallet_id
             and order_bonuses.asset_code = excluded.asset_code",
        orders as _,
        beneficiaries as _,
        wallets as _,
        assets as _,
        granted as _,
        revoked as _,
        credited as _,
        owed as _,
        &versions,
        &created,
        book.now,
    )
    .execute(conn)
    .await?;
    ensure_affected(written, book.changes.bonuses.len() as u64)
}
