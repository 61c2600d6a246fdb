//! Reads and writes rates.

use chrono::{DateTime, Utc};
use platform::{
    error::Failure,
    list::{Key, List, Page},
    money::{Conversion, Rate},
    pg::ensure_affected,
};
use proto::{common::v1::ListRequest, lists::wallet::RATES};
use sqlx::{FromRow, PgConnection, postgres::PgRow};

use super::model::{ExchangeRate, Pair, RateId};
use crate::asset::model::AssetCode;

#[derive(FromRow)]
struct RateRow {
    id: RateId,
    base_asset_code: String,
    quote_asset_code: String,
    rate: Rate,
    custom_data: String,
    metadata: String,
    version: i64,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl From<RateRow> for ExchangeRate {
    fn from(row: RateRow) -> Self {
        Self {
            id: row.id,
            pair: Pair {
                base: AssetCode::stored(&row.base_asset_code),
                quote: AssetCode::stored(&row.quote_asset_code),
            },
            rate: row.rate,
            custom_data: row.custom_data,
            metadata: row.metadata,
            version: row.version,
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }
}

impl FromRow<'_, PgRow> for ExchangeRate {
    fn from_row(row: &PgRow) -> Result<Self, sqlx::Error> {
        RateRow::from_row(row).map(Self::from)
    }
}

/// Finds the conversion of `base` into `quote`: the pair's own rate, else the inverse pair's. One
/// statement, so both are read at the same moment.
pub(crate) async fn find_conversion(
    conn: &mut PgConnection,
    base: &AssetCode,
    quote: &AssetCode,
) -> Result<Option<Conversion>, sqlx::Error> {
    sqlx::query_as!(
        Conversion,
        r#"select rate, base_asset_code <> $1 as "inverse!"
           from wallet.rates
           where (base_asset_code = $1 and quote_asset_code = $2)
               or (base_asset_code = $2 and quote_asset_code = $1)
           order by "inverse!"
           limit 1"#,
        base.as_str(),
        quote.as_str(),
    )
    .fetch_optional(conn)
    .await
}

/// Finds the rate of this pair, not of its inverse.
pub(crate) async fn find_rate(
    conn: &mut PgConnection,
    pair: &Pair,
) -> Result<Option<ExchangeRate>, sqlx::Error> {
    let row = sqlx::query_as!(
        RateRow,
        "select id, base_asset_code, quote_asset_code, rate, custom_data, metadata, version,
             created_at, updated_at
         from wallet.rates where base_asset_code = $1 and quote_asset_code = $2",
        pair.base.as_str(),
        pair.quote.as_str(),
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(ExchangeRate::from))
}

/// Locks the rate of this pair, not of its inverse.
pub(crate) async fn lock_rate_in_tx(
    conn: &mut PgConnection,
    pair: &Pair,
) -> Result<Option<ExchangeRate>, sqlx::Error> {
    let row = sqlx::query_as!(
        RateRow,
        "select id, base_asset_code, quote_asset_code, rate, custom_data, metadata, version,
             created_at, updated_at
         from wallet.rates where base_asset_code = $1 and quote_asset_code = $2 for update",
        pair.base.as_str(),
        pair.quote.as_str(),
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(ExchangeRate::from))
}

pub(crate) async fn list_rates(
    conn: &mut PgConnection,
    request: &ListRequest,
) -> Result<Page<ExchangeRate>, Failure> {
    List::new(&RATES, "wallet.rates r", Key::Id("r.id"))
        .select("r.*")
        .fetch(conn, request)
        .await
}

pub(crate) async fn insert_rate_in_tx(
    conn: &mut PgConnection,
    rate: &ExchangeRate,
) -> Result<(), sqlx::Error> {
    let written = sqlx::query!(
        "insert into wallet.rates
             (id, base_asset_code, quote_asset_code, rate, custom_data, metadata, version,
              created_at, updated_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        rate.id as _,
        rate.pair.base.as_str(),
        rate.pair.quote.as_str(),
        rate.rate as _,
        rate.custom_data,
        rate.metadata,
        rate.version,
        rate.created_at,
        rate.updated_at,
    )
    .execute(conn)
    .await?;
    ensure_affected(written, 1)
}

/// Writes the fields that an update can change.
pub(crate) async fn update_rate_in_tx(
    conn: &mut PgConnection,
    rate: &ExchangeRate,
) -> Result<(), sqlx::Error> {
    let written = sqlx::query!(
        "update wallet.rates set rate = $2, custom_data = $3, version = $4, updated_at = $5
         where id = $1 and version + 1 = $4",
        rate.id as _,
        rate.rate as _,
        rate.custom_data,
        rate.version,
        rate.updated_at,
    )
    .execute(conn)
    .await?;
    ensure_affected(written, 1)
}

pub(crate) async fn delete_rate_in_tx(
    conn: &mut PgConnection,
    id: RateId,
) -> Result<(), sqlx::Error> {
    let deleted = sqlx::query!("delete from wallet.rates where id = $1", id as _)
        .execute(conn)
        .await?;
    ensure_affected(deleted, 1)
}
