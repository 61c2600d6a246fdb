//! Transactions in the database: reads only, the poster writes them.

use platform::{
    error::Failure,
    list::{Key, List, Page, fields::Value},
};
use proto::{common::v1::ListRequest, lists::wallet::TRANSACTIONS};
use sqlx::PgConnection;

use super::{
    model::{Transaction, TransactionId},
    row::TransactionRow,
};
use crate::wallet::model::{UserId, WalletId};

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
             operation_index, version, processed_at, created_at, updated_at
         from wallet.transactions
         where id = any($1)",
        ids as _,
    );
    all(rows.fetch_all(conn).await?)
}

/// These transactions, locked in the order of their ids until the transaction ends.
pub async fn lock_transactions_in_tx(
    conn: &mut PgConnection,
    ids: &[TransactionId],
) -> Result<Vec<Transaction>, sqlx::Error> {
    let rows = sqlx::query_as!(
        TransactionRow,
        "select id, type, code, status, asset_code, amount, description, origin_wallet_id,
             destination_wallet_id, system_wallet_id, origin_address, destination_address,
             external_id, external_reference, reference, custom_data, metadata, operation_id,
             operation_index, version, processed_at, created_at, updated_at
         from wallet.transactions
         where id = any($1)
         order by id
         for update",
        ids as _,
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
             operation_index, version, processed_at, created_at, updated_at
         from wallet.transactions
         where operation_id = any($1)
         order by operation_id, operation_index",
        operations,
    );
    all(rows.fetch_all(conn).await?)
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
             operation_index, version, processed_at, created_at, updated_at
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

/// Transactions as the request wants them; only those of `wallet`, and of wallets of `reader`,
/// where given.
pub async fn list_transactions(
    conn: &mut PgConnection,
    request: &ListRequest,
    wallet: Option<WalletId>,
    reader: Option<UserId>,
) -> Result<Page<Transaction>, Failure> {
    List::new(&TRANSACTIONS, "wallet.transactions t", Key::Id("t.id"))
        .select("t.*")
        .any_of(
            "walletId",
            &["t.origin_wallet_id", "t.destination_wallet_id"],
        )
        .only_with(
            "t.origin_wallet_id = ? or t.destination_wallet_id = ?",
            wallet.map(|wallet| Value::Id(wallet.uuid())),
        )
        .only_with(
            "exists (select from wallet.wallets w where w.owner_id = ?
                 and w.id in (t.origin_wallet_id, t.destination_wallet_id))",
            reader.map(|reader| Value::Id(reader.uuid())),
        )
        .fetch(conn, request)
        .await
}
