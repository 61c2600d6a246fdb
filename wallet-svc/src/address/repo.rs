//! Reads and writes addresses.

use chrono::{DateTime, Utc};
use platform::{
    error::Failure,
    list::{Key, List, Page, fields::Value},
    pg::ensure_affected,
};
use proto::{common::v1::ListRequest, lists::wallet::ADDRESSES};
use sqlx::{FromRow, PgConnection, postgres::PgRow};

use super::model::{Address, AddressId};
use crate::{
    asset::model::AssetCode,
    wallet::model::{UserId, WalletId},
};

#[derive(FromRow)]
struct AddressRow {
    id: AddressId,
    address: String,
    asset_code: Option<String>,
    wallet_id: Option<WalletId>,
    custom_data: String,
    metadata: String,
    created_at: DateTime<Utc>,
}

impl From<AddressRow> for Address {
    fn from(row: AddressRow) -> Self {
        Self {
            id: row.id,
            text: row.address,
            asset: row.asset_code.as_deref().map(AssetCode::stored),
            wallet: row.wallet_id,
            custom_data: row.custom_data,
            metadata: row.metadata,
            created_at: row.created_at,
        }
    }
}

impl FromRow<'_, PgRow> for Address {
    fn from_row(row: &PgRow) -> Result<Self, sqlx::Error> {
        AddressRow::from_row(row).map(Self::from)
    }
}

/// Finds the oldest entry of an address; with a `reader`, only if the wallet is theirs.
pub(crate) async fn find_address(
    conn: &mut PgConnection,
    address: &str,
    reader: Option<UserId>,
) -> Result<Option<Address>, sqlx::Error> {
    let row = sqlx::query_as!(
        AddressRow,
        r#"select id as "id: AddressId", address, asset_code,
             wallet_id as "wallet_id: WalletId", custom_data, metadata, created_at
         from wallet.addresses a
         where address = $1
           and ($2::uuid is null or exists (
               select from wallet.wallets w where w.id = a.wallet_id and w.owner_id = $2))
         order by created_at, id
         limit 1"#,
        address,
        reader as _,
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(Address::from))
}

/// Inserts an address; returns false if its asset has the address already.
pub(crate) async fn insert_address_in_tx(
    conn: &mut PgConnection,
    address: &Address,
) -> Result<bool, sqlx::Error> {
    let written = sqlx::query!(
        "insert into wallet.addresses
             (id, address, asset_code, wallet_id, custom_data, metadata, created_at, updated_at)
         values ($1, $2, $3, $4, $5, $6, $7, $7)
         on conflict (address, asset_code) do nothing",
        address.id as _,
        address.text,
        address.asset.as_ref().map(AssetCode::as_str),
        address.wallet as _,
        address.custom_data,
        address.metadata,
        address.created_at,
    )
    .execute(conn)
    .await?;
    Ok(written.rows_affected() == 1)
}

/// Takes the next index of a key. Others wait until this transaction ends, so no index is skipped.
pub(crate) async fn claim_index_in_tx(
    conn: &mut PgConnection,
    fingerprint: &str,
) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar!(
        r#"insert into wallet.address_keys as keys (fingerprint, next_index)
         values ($1, 1)
         on conflict (fingerprint) do update set next_index = keys.next_index + 1
         returning next_index - 1 as "index!""#,
        fingerprint,
    )
    .fetch_one(conn)
    .await
}

/// Sets the index that a key derives next.
pub(crate) async fn set_next_index_in_tx(
    conn: &mut PgConnection,
    fingerprint: &str,
    next_index: i64,
) -> Result<(), sqlx::Error> {
    let written = sqlx::query!(
        "update wallet.address_keys set next_index = $2 where fingerprint = $1",
        fingerprint,
        next_index,
    )
    .execute(conn)
    .await?;
    ensure_affected(written, 1)
}

/// Finds which of the candidates the asset has already.
pub(crate) async fn find_existing_in_tx(
    conn: &mut PgConnection,
    asset: Option<&AssetCode>,
    candidates: &[String],
) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query_scalar!(
        "select address from wallet.addresses
         where address = any($1) and asset_code is not distinct from $2",
        candidates,
        asset.map(AssetCode::as_str),
    )
    .fetch_all(conn)
    .await
}

/// Lists addresses; with a `reader`, only those of their wallets.
pub(crate) async fn list_addresses(
    conn: &mut PgConnection,
    request: &ListRequest,
    reader: Option<UserId>,
) -> Result<Page<Address>, Failure> {
    List::new(&ADDRESSES, "wallet.addresses a", Key::Id("a.id"))
        .select("a.*")
        .only_with(
            "exists (select from wallet.wallets w where w.id = a.wallet_id and w.owner_id = ?)",
            reader.map(|reader| Value::Id(reader.uuid())),
        )
        .fetch(conn, request)
        .await
}
