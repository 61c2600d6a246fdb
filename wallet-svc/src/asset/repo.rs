//! Reads and writes assets.

use chrono::{DateTime, Utc};
use platform::{
    error::Failure,
    ids::Ids,
    list::{Key, List, Page},
    money::DecimalPlaces,
    pg::ensure_affected,
};
use proto::{common::v1::ListRequest, lists::wallet::ASSETS};
use sqlx::{Executor, FromRow, PgConnection, Postgres, postgres::PgRow};

use super::model::{Asset, AssetCode, AssetId, AssetType, SYSTEM_ASSETS};

#[derive(Debug, sqlx::FromRow)]
struct AssetRow {
    id: AssetId,
    code: String,
    name: String,
    symbol: Option<String>,
    r#type: String,
    decimal_places: DecimalPlaces,
    enabled: bool,
    system: bool,
    logo: Option<String>,
    contract: String,
    custom_data: String,
    metadata: String,
    version: i64,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl From<AssetRow> for Asset {
    fn from(row: AssetRow) -> Self {
        Self {
            id: row.id,
            code: AssetCode::stored(&row.code),
            name: row.name,
            symbol: row.symbol,
            // The column's check allows no other text.
            kind: AssetType::find(&row.r#type).unwrap_or(AssetType::Custom),
            decimal_places: row.decimal_places,
            enabled: row.enabled,
            system: row.system,
            logo: row.logo,
            contract: row.contract,
            custom_data: row.custom_data,
            metadata: row.metadata,
            version: row.version,
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }
}

impl FromRow<'_, PgRow> for Asset {
    fn from_row(row: &PgRow) -> Result<Self, sqlx::Error> {
        AssetRow::from_row(row).map(Self::from)
    }
}

/// Finds an asset by its code, in any case. A malformed code is not sent to Postgres, which does not
/// accept every text.
pub(crate) async fn find_asset<'c>(
    conn: impl Executor<'c, Database = Postgres>,
    code: &str,
) -> Result<Option<Asset>, sqlx::Error> {
    let Ok(code) = AssetCode::parse(code) else {
        return Ok(None);
    };
    let row = sqlx::query_as!(
        AssetRow,
        "select id, code, name, symbol, type, decimal_places, enabled, system, logo, contract,
             custom_data, metadata, version, created_at, updated_at
         from wallet.assets where lower(code) = lower($1)",
        code.as_str(),
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(Asset::from))
}

/// Locks an asset by its code, in any case; postings in it wait.
pub(crate) async fn lock_asset_in_tx(
    conn: &mut PgConnection,
    code: &str,
) -> Result<Option<Asset>, sqlx::Error> {
    let Ok(code) = AssetCode::parse(code) else {
        return Ok(None);
    };
    let row = sqlx::query_as!(
        AssetRow,
        "select id, code, name, symbol, type, decimal_places, enabled, system, logo, contract,
             custom_data, metadata, version, created_at, updated_at
         from wallet.assets where lower(code) = lower($1) for update",
        code.as_str(),
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(Asset::from))
}

pub(crate) async fn list_assets(
    conn: &mut PgConnection,
    request: &ListRequest,
) -> Result<Page<Asset>, Failure> {
    List::new(&ASSETS, "wallet.assets a", Key::Text("a.code"))
        .select("a.*")
        .fetch(conn, request)
        .await
}

pub(crate) async fn insert_asset_in_tx(
    conn: &mut PgConnection,
    asset: &Asset,
) -> Result<(), sqlx::Error> {
    let written = sqlx::query!(
        "insert into wallet.assets
             (id, code, name, symbol, type, decimal_places, enabled, system, logo, contract,
              custom_data, metadata, version, created_at, updated_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
        asset.id as _,
        asset.code.as_str(),
        asset.name,
        asset.symbol,
        asset.kind.as_str(),
        asset.decimal_places as _,
        asset.enabled,
        asset.system,
        asset.logo,
        asset.contract,
        asset.custom_data,
        asset.metadata,
        asset.version,
        asset.created_at,
        asset.updated_at,
    )
    .execute(conn)
    .await?;
    ensure_affected(written, 1)
}

/// Writes the fields that an update can change.
pub(crate) async fn update_asset_in_tx(
    conn: &mut PgConnection,
    asset: &Asset,
) -> Result<(), sqlx::Error> {
    let written = sqlx::query!(
        "update wallet.assets
         set name = $2, symbol = $3, type = $4, decimal_places = $5, enabled = $6, logo = $7,
             contract = $8, custom_data = $9, version = $10, updated_at = $11
         where id = $1 and version + 1 = $10",
        asset.id as _,
        asset.name,
        asset.symbol,
        asset.kind.as_str(),
        asset.decimal_places as _,
        asset.enabled,
        asset.logo,
        asset.contract,
        asset.custom_data,
        asset.version,
        asset.updated_at,
    )
    .execute(conn)
    .await?;
    ensure_affected(written, 1)
}

/// Inserts the system assets that do not exist, as unpublished (version 0).
pub(crate) async fn insert_system_assets_in_tx(
    conn: &mut PgConnection,
    ids: &Ids,
    now: DateTime<Utc>,
) -> Result<(), sqlx::Error> {
    for asset in SYSTEM_ASSETS {
        sqlx::query!(
            "insert into wallet.assets
                 (id, code, name, symbol, type, decimal_places, system, version, created_at,
                  updated_at)
             values ($1, $2, $3, $4, $5, $6, true, 0, $7, $7)
             on conflict do nothing",
            ids.next::<Asset>() as _,
            asset.code,
            asset.name,
            asset.symbol,
            asset.kind.as_str(),
            asset.decimal_places,
            now,
        )
        .execute(&mut *conn)
        .await?;
    }
    Ok(())
}

/// Marks the unpublished assets as published and returns them; the caller appends their events.
pub(crate) async fn take_unpublished_in_tx(
    conn: &mut PgConnection,
) -> Result<Vec<Asset>, sqlx::Error> {
    let rows = sqlx::query_as!(
        AssetRow,
        "update wallet.assets set version = 1 where version = 0
         returning id, code, name, symbol, type, decimal_places, enabled, system, logo, contract,
             custom_data, metadata, version, created_at, updated_at",
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(Asset::from).collect())
}
