//! SQL of tax rates. Deleted rows are not seen.

use std::collections::HashMap;

use platform::{
    error::Failure,
    ids::Id,
    list::{Key, List, Page},
    money::Percent,
    pg::ensure_affected,
};
use proto::{common::v1::ListRequest, lists::catalog::TAX_RATES};
use sqlx::PgConnection;

use super::TaxRate;

/// Inserts a new tax rate.
pub(crate) async fn insert_in_tx(
    conn: &mut PgConnection,
    tax_rate: &TaxRate,
) -> Result<(), sqlx::Error> {
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

/// Finds a tax rate.
pub(crate) async fn find(
    conn: &mut PgConnection,
    id: Id<TaxRate>,
) -> Result<Option<TaxRate>, sqlx::Error> {
    Ok(find_all(conn, &[id]).await?.pop())
}

/// Finds the tax rates among these ids, in no order.
pub(crate) async fn find_all(
    conn: &mut PgConnection,
    ids: &[Id<TaxRate>],
) -> Result<Vec<TaxRate>, sqlx::Error> {
    sqlx::query_as!(
        TaxRate,
        "select id, name, rate, version, created_at, updated_at from catalog.tax_rates
         where id = any($1) and deleted_at is null",
        ids as _,
    )
    .fetch_all(conn)
    .await
}

/// Lists the tax rates that the request asks for.
pub(crate) async fn list(
    conn: &mut PgConnection,
    request: &ListRequest,
) -> Result<Page<TaxRate>, Failure> {
    List::new(&TAX_RATES, "catalog.tax_rates t", Key::Id("t.id"))
        .select("t.id, t.name, t.rate, t.version, t.created_at, t.updated_at")
        .only("t.deleted_at is null")
        .fetch(conn, request)
        .await
}

/// Locks a tax rate against every other change; false if there is none.
pub(crate) async fn lock_in_tx(
    conn: &mut PgConnection,
    id: Id<TaxRate>,
) -> Result<bool, sqlx::Error> {
    let locked = sqlx::query!(
        "select from catalog.tax_rates where id = $1 and deleted_at is null for update",
        id as _,
    )
    .fetch_optional(conn)
    .await?;
    Ok(locked.is_some())
}

/// Locks these tax rates against changes until products that use them are written, and returns the
/// percentages of those that exist. Locks are taken in the order of ids.
pub(crate) async fn share_in_tx(
    conn: &mut PgConnection,
    ids: &[Id<TaxRate>],
) -> Result<HashMap<Id<TaxRate>, Percent>, sqlx::Error> {
    let shared = sqlx::query!(
        "select id, rate from catalog.tax_rates
         where id = any($1) and deleted_at is null
         order by id
         for share",
        ids as _,
    )
    .fetch_all(conn)
    .await?;
    Ok(shared.into_iter().map(|row| (row.id, row.rate)).collect())
}

/// Updates a changed tax rate.
pub(crate) async fn update_in_tx(
    conn: &mut PgConnection,
    tax_rate: &TaxRate,
) -> Result<(), sqlx::Error> {
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

/// Marks a tax rate as deleted; its version and time are those of the deletion.
pub(crate) async fn delete_in_tx(
    conn: &mut PgConnection,
    tax_rate: &TaxRate,
) -> Result<(), sqlx::Error> {
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

/// Returns whether products use a tax rate.
pub(crate) async fn is_used(conn: &mut PgConnection, id: Id<TaxRate>) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar!(
        r#"select exists (
               select from catalog.products where tax_rate_id = $1 and deleted_at is null
           ) as "used!""#,
        id as _,
    )
    .fetch_one(conn)
    .await
}
