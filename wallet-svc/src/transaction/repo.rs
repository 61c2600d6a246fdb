//! Reads transactions; the posting worker writes them.

use platform::{
    error::Failure,
    list::{Key, List, Page, Totals},
    money::Amount,
};
use proto::{
    common::v1::ListRequest,
    lists::{
        ListTable,
        wallet::{ACTIVITY, TRANSACTIONS},
    },
};
use sqlx::PgConnection;

use super::{
    model::{Change, Transaction, TransactionId},
    row::TransactionRow,
};
use crate::wallet::{
    model::{UserId, WalletId},
    repo::find_listed_wallets,
};

fn all(rows: Vec<TransactionRow>) -> Result<Vec<Transaction>, sqlx::Error> {
    rows.into_iter().map(Transaction::try_from).collect()
}

/// Finds transactions, in any order; with a `reader`, only those with a wallet of theirs.
pub(crate) async fn find_transactions(
    conn: &mut PgConnection,
    ids: &[TransactionId],
    reader: Option<UserId>,
) -> Result<Vec<Transaction>, sqlx::Error> {
    let rows = sqlx::query_as!(
        TransactionRow,
        "select id, type, code, status, asset_code, amount, description, origin_wallet_id,
             destination_wallet_id, system_wallet_id, origin_address, destination_address,
             external_id, external_reference, reference, custom_data, metadata, operation_id,
             operation_index, refunds_id, version, processed_at, created_at, updated_at
         from wallet.transactions t
         where id = any($1)
           and ($2::uuid is null or exists (
               select from wallet.wallets w
               where w.owner_id = $2 and w.id in (t.origin_wallet_id, t.destination_wallet_id)))",
        ids as _,
        reader as _,
    )
    .fetch_all(conn)
    .await?;
    all(rows)
}

/// Locks transactions and those of operations, in the order of their ids.
pub(crate) async fn lock_transactions_in_tx(
    conn: &mut PgConnection,
    ids: &[TransactionId],
    operations: &[String],
) -> Result<Vec<Transaction>, sqlx::Error> {
    let rows = sqlx::query_as!(
        TransactionRow,
        "select id, type, code, status, asset_code, amount, description, origin_wallet_id,
             destination_wallet_id, system_wallet_id, origin_address, destination_address,
             external_id, external_reference, reference, custom_data, metadata, operation_id,
             operation_index, refunds_id, version, processed_at, created_at, updated_at
         from wallet.transactions
         where id = any($1) or operation_id = any($2)
         order by id
         for update",
        ids as _,
        operations,
    )
    .fetch_all(conn)
    .await?;
    all(rows)
}

/// Finds the transactions of operations, each operation's by index.
pub(crate) async fn find_operations(
    conn: &mut PgConnection,
    operations: &[String],
) -> Result<Vec<Transaction>, sqlx::Error> {
    let rows = sqlx::query_as!(
        TransactionRow,
        "select id, type, code, status, asset_code, amount, description, origin_wallet_id,
             destination_wallet_id, system_wallet_id, origin_address, destination_address,
             external_id, external_reference, reference, custom_data, metadata, operation_id,
             operation_index, refunds_id, version, processed_at, created_at, updated_at
         from wallet.transactions
         where operation_id = any($1)
         order by operation_id, operation_index",
        operations,
    )
    .fetch_all(conn)
    .await?;
    all(rows)
}

/// Sums the refunds of transactions.
pub(crate) async fn find_refunded(
    conn: &mut PgConnection,
    ids: &[TransactionId],
) -> Result<Vec<(TransactionId, Amount)>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"select refunds_id as "id!: TransactionId", sum(amount) as "amount!: Amount"
         from wallet.transactions
         where refunds_id = any($1)
         group by refunds_id"#,
        ids as _,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| (row.id, row.amount)).collect())
}

/// Finds the history of a transaction, oldest first.
pub(crate) async fn find_changes(
    conn: &mut PgConnection,
    id: TransactionId,
) -> Result<Vec<Change>, sqlx::Error> {
    let rows = sqlx::query!(
        "select from_status, to_status, actor, created_at
         from wallet.transaction_changes
         where transaction_id = $1
         order by version",
        id as _,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter()
        .map(|row| {
            let from = row.from_status.map(|status| status.parse()).transpose();
            Ok(Change {
                from: from.map_err(sqlx::Error::decode)?,
                to: row.to_status.parse().map_err(sqlx::Error::decode)?,
                actor: row.actor,
                created_at: row.created_at,
            })
        })
        .collect()
}

/// Lists the transactions of `wallet`, which the reader may see, or of the wallets of `reader`;
/// without both, all transactions.
pub(crate) async fn list_transactions(
    conn: &mut PgConnection,
    totals: &Totals,
    request: &ListRequest,
    wallet: Option<WalletId>,
    reader: Option<UserId>,
) -> Result<Page<Transaction>, Failure> {
    let wallets = find_listed_wallets(conn, wallet, reader).await?;
    list_of(&TRANSACTIONS, totals, wallets)
        .any_of("walletId", SIDES)
        .fetch(conn, request)
        .await
}

/// Lists activity; wallets as in [`list_transactions`].
pub(crate) async fn list_activity(
    conn: &mut PgConnection,
    totals: &Totals,
    request: &ListRequest,
    wallet: Option<WalletId>,
    reader: Option<UserId>,
) -> Result<Page<Transaction>, Failure> {
    let wallets = find_listed_wallets(conn, wallet, reader).await?;
    list_of(&ACTIVITY, totals, wallets)
        .fetch(conn, request)
        .await
}

/// The columns that hold a transaction's wallets. The index on the second covers the first, so a
/// transaction with one wallet in both is recognized by an index-only scan.
const SIDES: &[&str] = &["t.destination_wallet_id", "t.origin_wallet_id"];

/// The fields that change, of those that lists are filtered by.
const MUTABLE: &[&str] = &["status", "updatedAt"];

fn list_of(table: &'static ListTable, totals: &Totals, wallets: Option<Vec<WalletId>>) -> List {
    List::new(table, "wallet.transactions t", Key::Id("t.id"))
        .select("t.*")
        .append_only(totals, MUTABLE)
        .only_any_of(SIDES, wallets)
}
