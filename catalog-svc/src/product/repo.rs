//! SQL of products. Only rows that are not deleted are seen.

use platform::{
    error::Failure,
    ids::Id,
    list::{Key, List, Page},
    pg::ensure_affected,
    rank::Rank,
};
use proto::{common::v1::ListRequest, lists::catalog::PRODUCTS};
use sqlx::PgConnection;

use super::{Product, pricing::PricingAsset, row::ProductRow, search::Search};

/// Writes a new product.
pub async fn insert_in_tx(conn: &mut PgConnection, product: &Product) -> Result<(), sqlx::Error> {
    let (details, pricing) = (&product.details, &product.pricing);
    let inserted = sqlx::query!(
        "insert into catalog.products
             (id, name, description, category_id, tax_rate_id, asset_code, price, bonus, type_code,
              allow_choosing_quantity, available, featured, visible, requires_identity,
              button_label, list_label, url, image, thumbnail, rank, custom_data, version,
              created_at, updated_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
                 $19, $20::text::numeric, $21, $22, $23, $24)",
        product.id as _,
        details.name,
        details.description,
        product.category_id as _,
        product.tax_rate_id as _,
        pricing.asset.code,
        pricing.price as _,
        pricing.bonus as _,
        details.kind.as_str(),
        details.allow_choosing_quantity,
        details.available,
        details.featured,
        details.visible,
        details.requires_identity,
        details.button_label,
        details.list_label,
        details.url,
        details.image,
        details.thumbnail,
        product.rank as _,
        details.custom_data,
        product.version,
        product.created_at,
        product.updated_at,
    )
    .execute(conn)
    .await?;
    ensure_affected(inserted, 1)
}

/// The product, if there is one.
pub async fn find(
    conn: &mut PgConnection,
    id: Id<Product>,
) -> Result<Option<Product>, sqlx::Error> {
    Ok(find_all(conn, &[id]).await?.pop())
}

/// The products among these ids, in no order.
pub async fn find_all(
    conn: &mut PgConnection,
    ids: &[Id<Product>],
) -> Result<Vec<Product>, sqlx::Error> {
    let rows = sqlx::query_as!(
        ProductRow,
        r#"select p.id as "id: _", p.name, p.description, p.category_id as "category_id: _",
                  p.tax_rate_id as "tax_rate_id: _", t.rate as "tax_rate?: _", p.asset_code,
                  a.decimal_places as "decimal_places: _", p.price as "price: _",
                  p.bonus as "bonus: _", p.type_code as "type_code: _",
                  p.allow_choosing_quantity, p.available, p.featured, p.visible,
                  p.requires_identity, p.button_label, p.list_label, p.url, p.image, p.thumbnail,
                  p.rank::text as "rank!: _", p.custom_data, p.version, p.created_at, p.updated_at
           from catalog.products p
           join catalog.assets a on a.code = p.asset_code
           left join catalog.tax_rates t on t.id = p.tax_rate_id
           where p.id = any($1) and p.deleted_at is null"#,
        ids as _,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(Product::from).collect())
}

/// The products as the request wants them; only the visible ones where asked.
pub async fn list(
    conn: &mut PgConnection,
    request: &ListRequest,
    visible_only: bool,
) -> Result<Page<Product>, Failure> {
    let from = "catalog.products p
                join catalog.assets a on a.code = p.asset_code
                left join catalog.tax_rates t on t.id = p.tax_rate_id";
    let search = Search::prepare(conn, request).await?;
    let list = List::new(&PRODUCTS, from, Key::Id("p.id"))
        .select(
            "p.id, p.name, p.description, p.category_id, p.tax_rate_id, t.rate as tax_rate,
             p.asset_code, a.decimal_places, p.price, p.bonus, p.type_code,
             p.allow_choosing_quantity, p.available, p.featured, p.visible, p.requires_identity,
             p.button_label, p.list_label, p.url, p.image, p.thumbnail, p.rank::text as rank,
             p.custom_data, p.version, p.created_at, p.updated_at",
        )
        .only("p.deleted_at is null")
        .column("order", "p.rank")
        .search(search);
    let list = if visible_only {
        list.only("p.visible")
    } else {
        list
    };
    list.fetch(conn, request).await
}

/// Locks the product against every other change; false if there is none.
pub async fn lock_in_tx(conn: &mut PgConnection, id: Id<Product>) -> Result<bool, sqlx::Error> {
    let locked = sqlx::query!(
        "select from catalog.products where id = $1 and deleted_at is null for update",
        id as _,
    )
    .fetch_optional(conn)
    .await?;
    Ok(locked.is_some())
}

/// Writes a changed product.
pub async fn update_in_tx(conn: &mut PgConnection, product: &Product) -> Result<(), sqlx::Error> {
    let (details, pricing) = (&product.details, &product.pricing);
    let updated = sqlx::query!(
        "update catalog.products
         set name = $2, description = $3, category_id = $4, tax_rate_id = $5, asset_code = $6,
             price = $7, bonus = $8, type_code = $9, allow_choosing_quantity = $10,
             available = $11, featured = $12, visible = $13, requires_identity = $14,
             button_label = $15, list_label = $16, url = $17, image = $18, thumbnail = $19,
             rank = $20::text::numeric, custom_data = $21, version = $22, updated_at = $23
         where id = $1 and version + 1 = $22 and deleted_at is null",
        product.id as _,
        details.name,
        details.description,
        product.category_id as _,
        product.tax_rate_id as _,
        pricing.asset.code,
        pricing.price as _,
        pricing.bonus as _,
        details.kind.as_str(),
        details.allow_choosing_quantity,
        details.available,
        details.featured,
        details.visible,
        details.requires_identity,
        details.button_label,
        details.list_label,
        details.url,
        details.image,
        details.thumbnail,
        product.rank as _,
        details.custom_data,
        product.version,
        product.updated_at,
    )
    .execute(conn)
    .await?;
    ensure_affected(updated, 1)
}

/// Marks a product, whose version and time are those of its deletion, as deleted.
pub async fn delete_in_tx(conn: &mut PgConnection, product: &Product) -> Result<(), sqlx::Error> {
    let deleted = sqlx::query!(
        "update catalog.products set deleted_at = $2, updated_at = $2, version = $3
         where id = $1 and version + 1 = $3 and deleted_at is null",
        product.id as _,
        product.updated_at,
        product.version,
    )
    .execute(conn)
    .await?;
    ensure_affected(deleted, 1)
}

/// The rank of the last product.
pub async fn last_rank(conn: &mut PgConnection) -> Result<Option<Rank>, sqlx::Error> {
    sqlx::query_scalar!(
        r#"select rank::text as "rank!: Rank" from catalog.products
           where deleted_at is null
           order by rank desc, id desc
           limit 1"#,
    )
    .fetch_optional(conn)
    .await
}

/// Remembers an asset for reads, unless an event told of it: events are never older than answers.
/// Most of the time nothing is new, and then nothing is locked.
pub async fn remember_asset_in_tx(
    conn: &mut PgConnection,
    asset: &PricingAsset,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into catalog.assets (code, decimal_places)
         select $1, $2 where not exists (
             select from catalog.assets where code = $1 and (decimal_places = $2 or version > 0)
         )
         on conflict (code) do update set decimal_places = excluded.decimal_places
         where assets.version = 0",
        asset.code,
        asset.decimal_places as _,
    )
    .execute(conn)
    .await
    .map(drop)
}
