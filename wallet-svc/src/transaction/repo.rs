//! Transactions in the database: reads only, the poster writes them.

use platform::{
    error::Failure,
    list::{Key, List, Page},
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

/// These transactions, in no order.
pub async fn find_transactions(
    conn: &mut PgConnection,
    ids: &[TransactionId],
) -> Result<Vec<Transaction>, sqlx::Error> {
    let rows = sqlx::query_as!(
        TransactionRow,
        "select id, type, code, status, asset_code, amount, description, origin_wallet_id,
             destination_wallet_id, system_wallet_id, origin_address, destination_address,
             external_id, external_reference, reference, custom_data, metadata, operation_id,
             operation_index, refunds_id, version, processed_at, created_at, updated_at
         from wallet.transactions
         where id = any($1)",
        ids as _,
    );
    all(rows.fetch_all(conn).await?)
}

/// These transactions and those of these operations, locked in the order of their ids until the
/// transaction ends.
pub async fn lock_transactions_in_tx(
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
    );
    all(rows.fetch_all(conn).await?)
}

/// The transactions of these ledger operations, each operation's in its own order.
pub async fn find_operations(
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
    );
    all(rows.fetch_all(conn).await?)
}

/// How much of these transactions refunds have given back.
pub async fn find_refunded(
    conn: &mut PgConnection,
    ids: &[TransactionId],
) -> Result<Vec<(TransactionId, Amount)>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"select refunds_id as "id!: TransactionId", sum(amount) as "amount!: Amount"
         from wallet.transactions
         where refunds_id = any($1)
         group by refunds_id"#,
        ids as _,
    );
    let rows = rows.fetch_all(conn).await?;
    Ok(rows.into_iter().map(|row| (row.id, row.amount)).collect())
}

/// The steps of a transaction, the oldest first.
pub async fn find_changes(
    conn: &mut PgConnection,
    id: TransactionId,
) -> Result<Vec<Change>, sqlx::Error> {
    let rows = sqlx::query!(
        "select from_status, to_status, actor, created_at
         from wallet.transaction_changes
         where transaction_id = $1
         order by version",
        id as _,
    );
    let rows = rows.fetch_all(conn).await?.into_iter();
    rows.map(|row| {
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

/// The transaction with this id; only if one of its wallets belongs to `reader`, where given.
pub async fn find_transaction(
    conn: &mut PgConnection,
    id: TransactionId,
    reader: Option<UserId>,
) -> Result<Option<Transaction>, sqlx::Error> {
    let row = sqlx::query_as!(
        TransactionRow,
        "select id, type, code, status, asset_code, amount, description, origin_wallet_id,
             destination_wallet_id, system_wallet_id, origin_address, destination_address,
             external_id, external_reference, reference, custom_data, metadata, operation_id,
             operation_index, refunds_id, version, processed_at, created_at, updated_at
         from wallet.transactions t
         where id = $1
           and ($2::uuid is null or exists (
               select from wallet.wallets w
               where w.owner_id = $2 and w.id in (t.origin_wallet_id, t.destination_wallet_id)))",
        id as _,
        reader as _,
    );
    row.fetch_optional(conn)
        .await?
        .map(Transaction::try_from)
        .transpose()
}

/// Transactions as the request wants them; only those of `wallet`, which the reader may see, and of
/// wallets of `reader`, where given.
pub async fn list_transactions(
    conn: &mut PgConnection,
    request: &ListRequest,
    wallet: Option<WalletId>,
    reader: Option<UserId>,
) -> Result<Page<Transaction>, Failure> {
    let wallets = find_listed_wallets(conn, wallet, reader).await?;
    of(&TRANSACTIONS, wallets)
        .any_of("walletId", SIDES)
        .fetch(conn, request)
        .await
}

/// Activity as the request wants it: see [`list_transactions`].
pub async fn list_activity(
    conn: &mut PgConnection,
    request: &ListRequest,
    wallet: Option<WalletId>,
    reader: Option<UserId>,
) -> Result<Page<Transaction>, Failure> {
    let wallets = find_listed_wallets(conn, wallet, reader).await?;
    of(&ACTIVITY, wallets).fetch(conn, request).await
}

/// Where a transaction has its wallets. The index on the second holds the first as well: what is at
/// both sides is told apart without a look at the row.
const SIDES: &[&str] = &["t.destination_wallet_id", "t.origin_wallet_id"];

fn of(table: &'static ListTable, wallets: Option<Vec<WalletId>>) -> List {
    List::new(table, "wallet.transactions t", Key::Id("t.id"))
        .select("t.*")
        .only_any_of(SIDES, wallets)
}
