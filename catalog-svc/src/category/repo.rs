//! SQL of categories. Only rows that are not deleted are seen.

use chrono::{DateTime, Utc};
use platform::{
    error::Failure,
    ids::Id,
    list::{Key, List, Page},
    pg::ensure_affected,
    rank::Rank,
};
use proto::{common::v1::ListRequest, lists::catalog::CATEGORIES};
use sqlx::{FromRow, PgConnection, postgres::PgRow};

use super::Category;

#[derive(FromRow)]
struct CategoryRow {
    id: Id<Category>,
    title: String,
    description: Option<String>,
    image: Option<String>,
    rank: Rank,
    custom_data: String,
    version: i64,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl FromRow<'_, PgRow> for Category {
    fn from_row(row: &PgRow) -> Result<Self, sqlx::Error> {
        CategoryRow::from_row(row).map(Self::from)
    }
}

impl From<CategoryRow> for Category {
    fn from(row: CategoryRow) -> Self {
        Self {
            id: row.id,
            title: row.title,
            description: row.description,
            image: row.image,
            rank: row.rank,
            custom_data: row.custom_data,
            version: row.version,
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }
}

/// Writes a new category.
pub async fn insert_in_tx(conn: &mut PgConnection, category: &Category) -> Result<(), sqlx::Error> {
    let inserted = sqlx::query!(
        "insert into catalog.categories
             (id, title, description, image, rank, custom_data, version, created_at, updated_at)
         values ($1, $2, $3, $4, $5::text::numeric, $6, $7, $8, $9)",
        category.id as _,
        category.title,
        category.description,
        category.image,
        category.rank as _,
        category.custom_data,
        category.version,
        category.created_at,
        category.updated_at,
    )
    .execute(conn)
    .await?;
    ensure_affected(inserted, 1)
}

/// The category, if there is one.
pub async fn find(
    conn: &mut PgConnection,
    id: Id<Category>,
) -> Result<Option<Category>, sqlx::Error> {
    Ok(find_all(conn, &[id]).await?.pop())
}

/// The categories among these ids, in no order.
pub async fn find_all(
    conn: &mut PgConnection,
    ids: &[Id<Category>],
) -> Result<Vec<Category>, sqlx::Error> {
    let rows = sqlx::query_as!(
        CategoryRow,
        r#"select id as "id: _", title, description, image, rank::text as "rank!: _", custom_data,
                  version, created_at, updated_at
           from catalog.categories
           where id = any($1) and deleted_at is null"#,
        ids as _,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(Category::from).collect())
}

/// The categories as the request wants them.
pub async fn list(
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

/// Locks the category against every other change; false if there is none.
pub async fn lock_in_tx(conn: &mut PgConnection, id: Id<Category>) -> Result<bool, sqlx::Error> {
    let locked = sqlx::query!(
        "select from catalog.categories where id = $1 and deleted_at is null for update",
        id as _,
    )
    .fetch_optional(conn)
    .await?;
    Ok(locked.is_some())
}

/// Keeps the category from being deleted until a product that names it is written; false if there
/// is none.
pub async fn share_in_tx(conn: &mut PgConnection, id: Id<Category>) -> Result<bool, sqlx::Error> {
    let shared = sqlx::query!(
        "select from catalog.categories where id = $1 and deleted_at is null for share",
        id as _,
    )
    .fetch_optional(conn)
    .await?;
    Ok(shared.is_some())
}

/// Writes a changed category.
pub async fn update_in_tx(conn: &mut PgConnection, category: &Category) -> Result<(), sqlx::Error> {
    let updated = sqlx::query!(
        "update catalog.categories
         set title = $2, description = $3, image = $4, rank = $5::text::numeric, custom_data = $6,
             version = $7, updated_at = $8
         where id = $1 and version + 1 = $7 and deleted_at is null",
        category.id as _,
        category.title,
        category.description,
        category.image,
        category.rank as _,
        category.custom_data,
        category.version,
        category.updated_at,
    )
    .execute(conn)
    .await?;
    ensure_affected(updated, 1)
}

/// Marks a category, whose version and time are those of its deletion, as deleted.
pub async fn delete_in_tx(conn: &mut PgConnection, category: &Category) -> Result<(), sqlx::Error> {
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

/// Whether products that are not deleted are filed under the category.
pub async fn is_used(conn: &mut PgConnection, id: Id<Category>) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar!(
        r#"select exists (
               select from catalog.products where category_id = $1 and deleted_at is null
           ) as "used!""#,
        id as _,
    )
    .fetch_one(conn)
    .await
}

/// The rank of the last category.
pub async fn last_rank(conn: &mut PgConnection) -> Result<Option<Rank>, sqlx::Error> {
    sqlx::query_scalar!(
        r#"select rank::text as "rank!: Rank" from catalog.categories
           where deleted_at is null
           order by rank desc, id desc
           limit 1"#,
    )
    .fetch_optional(conn)
    .await
}
