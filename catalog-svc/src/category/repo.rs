//! SQL of categories. Deleted rows are not seen.

use std::collections::HashSet;

use platform::{
    error::Failure,
    ids::Id,
    list::{Key, List, Page},
    pg::ensure_affected,
    rank::Rank,
};
use proto::{common::v1::ListRequest, lists::catalog::CATEGORIES};
use sqlx::PgConnection;

use super::Category;
use crate::words;

/// Inserts a new category.
pub(crate) async fn insert_in_tx(
    conn: &mut PgConnection,
    category: &Category,
) -> Result<(), sqlx::Error> {
    let inserted = sqlx::query!(
        "insert into catalog.categories
             (id, title, description, image, rank, custom_data, version, created_at, updated_at,
              search)
         values ($1, $2, $3, $4, $5::text::numeric, $6, $7, $8, $9, $10::text::tsvector)",
        category.id as _,
        category.title,
        category.description,
        category.image,
        category.rank as _,
        category.custom_data,
        category.version,
        category.created_at,
        category.updated_at,
        words::vector([category.title.as_str()]),
    )
    .execute(conn)
    .await?;
    ensure_affected(inserted, 1)
}

/// Finds a category.
pub(crate) async fn find(
    conn: &mut PgConnection,
    id: Id<Category>,
) -> Result<Option<Category>, sqlx::Error> {
    Ok(find_all(conn, &[id]).await?.pop())
}

/// Finds the categories among these ids, in no order.
pub(crate) async fn find_all(
    conn: &mut PgConnection,
    ids: &[Id<Category>],
) -> Result<Vec<Category>, sqlx::Error> {
    sqlx::query_as!(
        Category,
        r#"select id, title, description, image, rank::text as "rank!: _", custom_data, version,
                  created_at, updated_at
           from catalog.categories
           where id = any($1) and deleted_at is null"#,
        ids as _,
    )
    .fetch_all(conn)
    .await
}

/// Lists the categories that the request asks for.
pub(crate) async fn list(
    conn: &mut PgConnection,
    request: &ListRequest,
) -> Result<Page<Category>, Failure> {
    List::new(&CATEGORIES, "catalog.categories c", Key::Id("c.id"))
        .select(
            "c.id, c.title, c.description, c.image, c.rank::text as rank, c.custom_data,
             c.version, c.created_at, c.updated_at",
        )
        .only("c.deleted_at is null")
        .column("order", "c.rank")
        .column(
            "availableProducts",
            "exists (select from catalog.products p
                     where p.category_id = c.id and p.deleted_at is null and p.available)",
        )
        .column(
            "visibleProducts",
            "exists (select from catalog.products p
                     where p.category_id = c.id and p.deleted_at is null and p.visible)",
        )
        .fetch(conn, request)
        .await
}

/// Locks a category against every other change; false if there is none.
pub(crate) async fn lock_in_tx(
    conn: &mut PgConnection,
    id: Id<Category>,
) -> Result<bool, sqlx::Error> {
    let locked = sqlx::query!(
        "select from catalog.categories where id = $1 and deleted_at is null for update",
        id as _,
    )
    .fetch_optional(conn)
    .await?;
    Ok(locked.is_some())
}

/// Locks these categories against their deletion until products in them are written, and returns those
/// that exist. Locks are taken in the order of ids, so two imports cannot block each other. They are the
/// weakest: a move that re-spaces other categories, in the order of ranks, does not wait for them, so it
/// cannot block an import that waits for the moved one.
pub(crate) async fn share_in_tx(
    conn: &mut PgConnection,
    ids: &[Id<Category>],
) -> Result<HashSet<Id<Category>>, sqlx::Error> {
    let shared = sqlx::query_scalar!(
        "select id from catalog.categories
         where id = any($1) and deleted_at is null
         order by id
         for key share",
        ids as _,
    )
    .fetch_all(conn)
    .await?;
    Ok(shared.into_iter().collect())
}

/// Updates a changed category.
pub(crate) async fn update_in_tx(
    conn: &mut PgConnection,
    category: &Category,
) -> Result<(), sqlx::Error> {
    let updated = sqlx::query!(
        "update catalog.categories
         set title = $2, description = $3, image = $4, rank = $5::text::numeric, custom_data = $6,
             version = $7, updated_at = $8, search = $9::text::tsvector
         where id = $1 and version + 1 = $7 and deleted_at is null",
        category.id as _,
        category.title,
        category.description,
        category.image,
        category.rank as _,
        category.custom_data,
        category.version,
        category.updated_at,
        words::vector([category.title.as_str()]),
    )
    .execute(conn)
    .await?;
    ensure_affected(updated, 1)
}

/// Marks a category as deleted; its version and time are those of the deletion.
pub(crate) async fn delete_in_tx(
    conn: &mut PgConnection,
    category: &Category,
) -> Result<(), sqlx::Error> {
    let deleted = sqlx::query!(
        "update catalog.categories set deleted_at = $2, updated_at = $2, version = $3
         where id = $1 and version + 1 = $3 and deleted_at is null",
        category.id as _,
        category.updated_at,
        category.version,
    )
    .execute(conn)
    .await?;
    ensure_affected(deleted, 1)
}

/// Returns whether a category has products.
pub(crate) async fn is_used(
    conn: &mut PgConnection,
    id: Id<Category>,
) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar!(
        r#"select exists (
               select from catalog.products where category_id = $1 and deleted_at is null
           ) as "used!""#,
        id as _,
    )
    .fetch_one(conn)
    .await
}

/// Returns the rank after the last category.
pub(crate) async fn next_rank(conn: &mut PgConnection) -> Result<Rank, sqlx::Error> {
    let last = sqlx::query_scalar!(
        r#"select rank::text as "rank!: Rank" from catalog.categories
           where deleted_at is null
           order by rank desc, id desc
           limit 1"#,
    )
    .fetch_optional(conn)
    .await?;
    Ok(last.map_or_else(Rank::first, Rank::next))
}
