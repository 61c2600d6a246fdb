//! Assets in the database.

use chrono::{DateTime, Utc};
use platform::{
    error::Failure,
    list::{Key, List, Page},
    money::DecimalPlaces,
};
use proto::{common::v1::ListRequest, lists::wallet::ASSETS};
use sqlx::{Executor, FromRow, PgConnection, Postgres, postgres::PgRow};

use super::model::{Asset, AssetCode, AssetType, FIRST_ASSETS};

/// A row of `wallet.assets`.
#[derive(Debug, sqlx::FromRow)]
struct AssetRow {
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
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl From<AssetRow> for Asset {
    fn from(row: AssetRow) -> Self {
        Self {
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

/// The asset with this code, in any case.
pub async fn find_asset<'c>(
    conn: impl Executor<'c, Database = Postgres>,
    code: &str,
) -> Result<Option<Asset>, sqlx::Error> {
    let row = sqlx::query_as!(
        AssetRow,
        "select code, name, symbol, type, decimal_places, enabled, system, logo, contract,
             custom_data, metadata, created_at, updated_at
         from wallet.assets where lower(code) = lower($1)",
        code,
    );
    Ok(row.fetch_optional(conn).await?.map(Asset::from))
}

/// Assets as the request wants them.
pub async fn list_assets(
    conn: &mut PgConnection,
    request: &ListRequest,
) -> Result<Page<Asset>, Failure> {
    List::new(&ASSETS, "wallet.assets a", Key::Text("a.code"))
        .select("a.*")
        .fetch(conn, request)
        .await
}

/// Makes the first assets unless they exist.
pub async fn insert_first_assets_in_tx(
    conn: &mut PgConnection,
    now: DateTime<Utc>,
) -> Result<(), sqlx::Error> {
    for (code, name, symbol, kind, decimal_places) in FIRST_ASSETS {
        sqlx::query!(
            "insert into wallet.assets
                 (code, name, symbol, type, decimal_places, system, created_at, updated_at)
             values ($1, $2, $3, $4, $5, true, $6, $6)
             on conflict do nothing",
            code,
            name,
            symbol,
            kind.as_str(),
            decimal_places,
            now,
        )
        .execute(&mut *conn)
        .await?;
    }
    Ok(())
}
