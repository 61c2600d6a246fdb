//! SQL of tax rates. Only rows that are not deleted are seen.

use chrono::{DateTime, Utc};
use platform::{
    error::Failure,
    ids::Id,
    list::{Key, List, Page},
    money::Percent,
    pg::ensure_affected,
};
use proto::{common::v1::ListRequest, lists::catalog::TAX_RATES};
use sqlx::{FromRow, PgConnection, postgres::PgRow};

use super::TaxRate;

#[derive(FromRow)]
struct TaxRateRow {
    id: Id<TaxRate>,
    name: String,
    rate: Percent,
    version: i64,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl FromRow<'_, PgRow> for TaxRate {
    fn from_row(row: &PgRow) -> Result<Self, sqlx::Error> {
        TaxRateRow::from_row(row).map(Self::from)
    }
}

impl From<TaxRateRow> for TaxRate {
    fn from(row: TaxRateRow) -> Self {
        Self {
            id: row.id,
            name: row.name,
            rate: row.rate,
            version: row.version,
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }
}

/// Writes a new tax rate.
pub async fn insert_in_tx(conn: &mut PgConnection, tax_rate: &TaxRate) -> Result<(), sqlx::Error> {
    let inserted = sqlx::query!(
        "insert into catalog.tax_rates (id, name, rate, version, created_at, updated_at)
         values ($1, $2, $3, $4, $5, $6)",
        tax_rate.id as _,
        tax_rate.name,
        tax_rate.rate as _,
        tax_rate.version,
        tax_rate.created_at,
        tax_rate.updated_at,
    )
    .execute(conn)
    .await?;
    ensure_affected(inserted, 1)
}

/// The tax rate, if there is one.
pub async fn find(
    conn: &mut PgConnection,
    id: Id<TaxRate>,
) -> Result<Option<TaxRate>, sqlx::Error> {
    Ok(find_all(conn, &[id]).await?.pop())
}

/// The tax rates among these ids, in no order.
pub async fn find_all(
    conn: &mut PgConnection,
    ids: &[Id<TaxRate>],
) -> Result<Vec<TaxRate>, sqlx::Error> {
    let rows = sqlx::query_as!(
        TaxRateRow,
        r#"select id as "id: _", name, rate as "rate: _", version, created_at, updated_at
           from catalog.tax_rates
           where id = any($1) and deleted_at is null"#,
        ids as _,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(TaxRate::from).collect())
}

/// The tax rates as the request wants them.
pub async fn list(
    conn: &mut PgConnection,
    request: &ListRequest,
) -> Result<Page<TaxRate>, Failure> {
    List::new(&TAX_RATES, "catalog.tax_rates t", Key::Id("t.id"))
        .select("t.id, t.name, t.rate, t.version, t.created_at, t.updated_at")
        .only("t.deleted_at is null")
        .fetch(conn, request)
        .await
}

/// Locks the tax rate against every other change; false if there is none.
pub async fn lock_in_tx(conn: &mut PgConnection, id: Id<TaxRate>) -> Result<bool, sqlx::Error> {
    let locked = sqlx::query!(
        "select from catalog.tax_rates where id = $1 and deleted_at is null for update",
        id as _,
    )
    .fetch_optional(conn)
    .await?;
    Ok(locked.is_some())
}

/// Keeps the tax rate as it is until a product that names it is written, and gives its percentage,
/// if there is one.
pub async fn share_in_tx(
    conn: &mut PgConnection,
    id: Id<TaxRate>,
) -> Result<Option<Percent>, sqlx::Error> {
    sqlx::query_scalar!(
        r#"select rate as "rate: Percent" from catalog.tax_rates
           where id = $1 and deleted_at is null
           for share"#,
        id as _,
    )
    .fetch_optional(conn)
    .await
}

/// Writes a changed tax rate.
pub async fn update_in_tx(conn: &mut PgConnection, tax_rate: &TaxRate) -> Result<(), sqlx::Error> {
    let updated = sqlx::query!(
        "update catalog.tax_rates set name = $2, rate = $3, version = $4, updated_at = $5
         where id = $1 and version + 1 = $4 and deleted_at is null",
        tax_rate.id as _,
        tax_rate.name,
        tax_rate.rate as _,
        tax_rate.version,
        tax_rate.updated_at,
    )
    .execute(conn)
    .await?;
    ensure_affected(updated, 1)
}

/// Marks a tax rate, whose version and time are those of its deletion, as deleted.
pub async fn delete_in_tx(conn: &mut PgConnection, tax_rate: &TaxRate) -> Result<(), sqlx::Error> {
    let deleted = sqlx::query!(
        "update catalog.tax_rates set deleted_at = $2, updated_at = $2, version = $3
         where id = $1 and version + 1 = $3 and deleted_at is null",
        tax_rate.id as _,
        tax_rate.updated_at,
        tax_rate.version,
    )
    .execute(conn)
    .await?;
    ensure_affected(deleted, 1)
}

/// Whether products that are not deleted are taxed by it.
pub async fn is_used(conn: &mut PgConnection, id: Id<TaxRate>) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar!(
        r#"select exists (
               select from catalog.products where tax_rate_id = $1 and deleted_at is null
           ) as "used!""#,
        id as _,
    )
    .fetch_one(conn)
    .await
}
