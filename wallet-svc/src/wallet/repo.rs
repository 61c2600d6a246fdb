//! Reads and writes wallets, and reads their balances.

use chrono::{DateTime, Utc};
use platform::{
    error::Failure,
    list::{Key, List, Page, fields::Value},
    money::Amount,
    pg::ensure_affected,
};
use proto::{
    common::v1::ListRequest,
    lists::wallet::{BALANCES, WALLETS},
};
use sqlx::{Executor, FromRow, PgConnection, Postgres, postgres::PgRow};

use super::model::{Balance, SYSTEM_WALLETS, UserId, Wallet, WalletId};
use crate::asset::model::AssetCode;

#[derive(FromRow)]
struct WalletRow {
    id: WalletId,
    name: Option<String>,
    description: Option<String>,
    owner_id: Option<UserId>,
    owner_fixed: bool,
    locked: bool,
    reference: String,
    custom_data: String,
    metadata: String,
    version: i64,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl From<WalletRow> for Wallet {
    fn from(row: WalletRow) -> Self {
        Self {
            id: row.id,
            name: row.name,
            description: row.description,
            owner: row.owner_id,
            owner_fixed: row.owner_fixed,
            locked: row.locked,
            reference: row.reference,
            custom_data: row.custom_data,
            metadata: row.metadata,
            version: row.version,
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }
}

impl FromRow<'_, PgRow> for Wallet {
    fn from_row(row: &PgRow) -> Result<Self, sqlx::Error> {
        WalletRow::from_row(row).map(Self::from)
    }
}

#[derive(FromRow)]
struct BalanceRow {
    asset_code: String,
    amount: Amount,
    held: Amount,
    incoming: Amount,
}

impl FromRow<'_, PgRow> for Balance {
    fn from_row(row: &PgRow) -> Result<Self, sqlx::Error> {
        let row = BalanceRow::from_row(row)?;
        Ok(Self {
            asset: AssetCode::stored(&row.asset_code),
            amount: row.amount,
            held: row.held,
            incoming: row.incoming,
        })
    }
}

/// Finds a wallet; system wallets are never found.
pub(crate) async fn find_wallet<'c>(
    conn: impl Executor<'c, Database = Postgres>,
    id: WalletId,
) -> Result<Option<Wallet>, sqlx::Error> {
    Ok(find_wallets(conn, &[id], None).await?.pop())
}

/// Finds wallets, in any order; with an `owner`, only theirs. System wallets are never found.
pub(crate) async fn find_wallets<'c>(
    conn: impl Executor<'c, Database = Postgres>,
    ids: &[WalletId],
    owner: Option<UserId>,
) -> Result<Vec<Wallet>, sqlx::Error> {
    let rows = sqlx::query_as!(
        WalletRow,
        "select id, name, description, owner_id, owner_fixed, locked, reference, custom_data,
             metadata, version, created_at, updated_at
         from wallet.wallets
         where id = any($1) and not system and ($2::uuid is null or owner_id = $2)",
        ids as _,
        owner as _,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(Wallet::from).collect())
}

/// Finds the wallets whose rows a list shows: `wallet`, which the reader may see, else all wallets of
/// `reader`. `None` is no restriction.
pub(crate) async fn find_listed_wallets(
    conn: &mut PgConnection,
    wallet: Option<WalletId>,
    reader: Option<UserId>,
) -> Result<Option<Vec<WalletId>>, sqlx::Error> {
    let (None, Some(reader)) = (wallet, reader) else {
        return Ok(wallet.map(|wallet| vec![wallet]));
    };
    sqlx::query_scalar!(
        r#"select id as "id: WalletId" from wallet.wallets where owner_id = $1"#,
        reader as _,
    )
    .fetch_all(conn)
    .await
    .map(Some)
}

/// Locks a wallet and its balances: postings on it wait, and so do inserts of new balances.
pub(crate) async fn lock_wallet_in_tx(
    conn: &mut PgConnection,
    id: WalletId,
) -> Result<Option<Wallet>, sqlx::Error> {
    let row = sqlx::query_as!(
        WalletRow,
        "select id, name, description, owner_id, owner_fixed, locked, reference, custom_data,
             metadata, version, created_at, updated_at
         from wallet.wallets where id = $1 and not system for update",
        id as _,
    )
    .fetch_optional(&mut *conn)
    .await?;
    sqlx::query!(
        r#"select 1 as "locked!" from wallet.balances
         where wallet_id = $1 order by asset_code for update"#,
        id as _,
    )
    .fetch_all(conn)
    .await?;
    Ok(row.map(Wallet::from))
}

/// Finds the wallet that this operation created.
pub(crate) async fn find_wallet_of_operation(
    conn: &mut PgConnection,
    operation_id: &str,
) -> Result<Option<Wallet>, sqlx::Error> {
    let row = sqlx::query_as!(
        WalletRow,
        "select id, name, description, owner_id, owner_fixed, locked, reference, custom_data,
             metadata, version, created_at, updated_at
         from wallet.wallets where operation_id = $1",
        operation_id,
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(Wallet::from))
}

/// Inserts a wallet; returns false if its reference or operation id exists already.
pub(crate) async fn insert_wallet_in_tx(
    conn: &mut PgConnection,
    wallet: &Wallet,
    operation_id: Option<&str>,
) -> Result<bool, sqlx::Error> {
    let written = sqlx::query!(
        "insert into wallet.wallets
             (id, name, description, owner_id, locked, reference, custom_data, metadata,
              operation_id, version, created_at, updated_at, owner_fixed)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
         on conflict do nothing",
        wallet.id as _,
        wallet.name,
        wallet.description,
        wallet.owner as _,
        wallet.locked,
        wallet.reference,
        wallet.custom_data,
        wallet.metadata,
        operation_id,
        wallet.version,
        wallet.created_at,
        wallet.updated_at,
        wallet.owner_fixed,
    )
    .execute(conn)
    .await?;
    Ok(written.rows_affected() == 1)
}

/// Inserts the system wallets that do not exist.
pub(crate) async fn insert_system_wallets_in_tx(
    conn: &mut PgConnection,
    now: DateTime<Utc>,
) -> Result<(), sqlx::Error> {
    for (id, name) in SYSTEM_WALLETS {
        sqlx::query!(
            "insert into wallet.wallets
                 (id, name, locked, system, reference, created_at, updated_at)
             values ($1, $2, false, true, $2, $3, $3)
             on conflict do nothing",
            id as _,
            name,
            now,
        )
        .execute(&mut *conn)
        .await?;
    }
    Ok(())
}

/// Writes the fields that an update can change.
pub(crate) async fn update_wallet_in_tx(
    conn: &mut PgConnection,
    wallet: &Wallet,
) -> Result<(), sqlx::Error> {
    let written = sqlx::query!(
        "update wallet.wallets
         set name = $2, owner_id = $3, locked = $4, custom_data = $5, version = $6,
             updated_at = $7, owner_fixed = $8
         where id = $1",
        wallet.id as _,
        wallet.name,
        wallet.owner as _,
        wallet.locked,
        wallet.custom_data,
        wallet.version,
        wallet.updated_at,
        wallet.owner_fixed,
    )
    .execute(conn)
    .await?;
    ensure_affected(written, 1)
}

/// Lists wallets; with an `owner`, only theirs.
pub(crate) async fn list_wallets(
    conn: &mut PgConnection,
    request: &ListRequest,
    owner: Option<UserId>,
) -> Result<Page<Wallet>, Failure> {
    List::new(&WALLETS, "wallet.wallets w", Key::Id("w.id"))
        .select("w.*")
        .only("not w.system")
        .only_with("w.owner_id = ?", owner.map(|owner| Value::Id(owner.uuid())))
        .fetch(conn, request)
        .await
}

/// Lists the balances of a wallet, one for each asset that a transaction ever used.
pub(crate) async fn list_balances(
    conn: &mut PgConnection,
    request: &ListRequest,
    wallet: WalletId,
) -> Result<Page<Balance>, Failure> {
    List::new(&BALANCES, "wallet.balances b", Key::Text("b.asset_code"))
        .select("b.*")
        .only("b.used")
        .only_with("b.wallet_id = ?", Some(Value::Id(wallet.uuid())))
        .fetch(conn, request)
        .await
}

/// Lists the total balances of all wallets; with an `owner`, of theirs.
pub(crate) async fn list_total_balances(
    conn: &mut PgConnection,
    request: &ListRequest,
    owner: Option<UserId>,
) -> Result<Page<Balance>, Failure> {
    let sums = "(select b.asset_code, sum(b.amount) as amount, sum(b.held) as held,
             sum(b.incoming) as incoming
         from wallet.balances b
         where b.used and not b.system group by b.asset_code) t";
    let sums_of_owner = "(select b.asset_code, w.owner_id, sum(b.amount) as amount,
             sum(b.held) as held, sum(b.incoming) as incoming
         from wallet.balances b join wallet.wallets w on w.id = b.wallet_id
         where b.used and not b.system group by b.asset_code, w.owner_id) t";
    let from = if owner.is_some() { sums_of_owner } else { sums };
    List::new(&BALANCES, from, Key::Text("t.asset_code"))
        .select("t.*")
        .only_with("t.owner_id = ?", owner.map(|owner| Value::Id(owner.uuid())))
        .fetch(conn, request)
        .await
}
