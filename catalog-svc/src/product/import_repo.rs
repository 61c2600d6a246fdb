//! SQL of products in bulk: what an import names and writes, and the pages of an export.

use std::collections::{HashMap, HashSet};

use platform::{ids::Id, money::Percent, pg::ensure_affected};
use sqlx::PgConnection;

use super::{Product, row::ProductRow};
use crate::{category::Category, tax_rate::TaxRate};

/// Keeps the categories among these ids from being deleted, and says which there are. Locks are
/// taken in the order of ids, so that two imports cannot block each other.
pub async fn share_categories_in_tx(
    conn: &mut PgConnection,
    ids: &[Id<Category>],
) -> Result<HashSet<Id<Category>>, sqlx::Error> {
    let found = sqlx::query_scalar!(
        r#"select id as "id: Id<Category>" from catalog.categories
           where id = any($1) and deleted_at is null
           order by id
           for share"#,
        ids as _,
    )
    .fetch_all(conn)
    .await?;
    Ok(found.into_iter().collect())
}

/// Keeps the tax rates among these ids as they are, and gives their percentages.
pub async fn share_tax_rates_in_tx(
    conn: &mut PgConnection,
    ids: &[Id<TaxRate>],
) -> Result<HashMap<Id<TaxRate>, Percent>, sqlx::Error> {
    let found = sqlx::query!(
        r#"select id as "id: Id<TaxRate>", rate as "rate: Percent" from catalog.tax_rates
           where id = any($1) and deleted_at is null
           order by id
           for share"#,
        ids as _,
    )
    .fetch_all(conn)
    .await?;
    Ok(found.into_iter().map(|row| (row.id, row.rate)).collect())
}

/// Writes new products, in one statement.
pub async fn insert_all_in_tx(
    conn: &mut PgConnection,
    products: &[&Product],
) -> Result<(), sqlx::Error> {
    let inserted = sqlx::query!(
        "insert into catalog.products
             (id, name, description, category_id, tax_rate_id, asset_code, price, bonus, type_code,
              allow_choosing_quantity, available, featured, visible, requires_identity,
              button_label, list_label, url, image, thumbnail, rank, custom_data, version,
              created_at, updated_at)
         select id, name, description, category_id, tax_rate_id, asset_code, price, bonus,
                type_code, allow_choosing_quantity, available, featured, visible,
                requires_identity, button_label, list_label, url, image, thumbnail,
                rank::numeric, custom_data, 1, created_at, created_at
         from unnest
             ($1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::uuid[], $6::text[],
              $7::numeric[], $8::numeric[], $9::text[], $10::boolean[], $11::boolean[],
              $12::boolean[], $13::boolean[], $14::boolean[], $15::text[], $16::text[],
              $17::text[], $18::text[], $19::text[], $20::text[], $21::text[],
              $22::timestamptz[])
             as new (id, name, description, category_id, tax_rate_id, asset_code, price, bonus,
                     type_code, allow_choosing_quantity, available, featured, visible,
                     requires_identity, button_label, list_label, url, image, thumbnail, rank,
                     custom_data, created_at)",
        &column(products, |product| product.id) as _,
        &column(products, |product| product.details.name.clone()),
        &column(products, |product| product.details.description.clone()) as _,
        &column(products, |product| product.category_id) as _,
        &column(products, |product| product.tax_rate_id) as _,
        &column(products, |product| product.pricing.asset.code.clone()),
        &column(products, |product| product.pricing.price) as _,
        &column(products, |product| product.pricing.bonus) as _,
        &column(products, |product| product.details.kind.as_str().to_owned()),
        &column(products, |product| product.details.allow_choosing_quantity),
        &column(products, |product| product.details.available),
        &column(products, |product| product.details.featured),
        &column(products, |product| product.details.visible),
        &column(products, |product| product.details.requires_identity),
        &column(products, |product| product.details.button_label.clone()) as _,
        &column(products, |product| product.details.list_label.clone()) as _,
        &column(products, |product| product.details.url.clone()) as _,
        &column(products, |product| product.details.image.clone()) as _,
        &column(products, |product| product.details.thumbnail.clone()) as _,
        &column(products, |product| product.rank.to_string()),
        &column(products, |product| product.details.custom_data.clone()),
        &column(products, |product| product.created_at),
    )
    .execute(conn)
    .await?;
    ensure_affected(inserted, products.len() as u64)
}

fn column<T>(products: &[&Product], of: impl Fn(&Product) -> T) -> Vec<T> {
    products.iter().map(|product| of(product)).collect()
}

/// The products with ids after this one, in the order of ids: a product that moves meanwhile is
/// neither lost nor seen twice.
pub async fn page_after(
    conn: &mut PgConnection,
    last: Option<Id<Product>>,
    limit: i64,
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
           where p.id > coalesce($1, '00000000-0000-0000-0000-000000000000'::uuid)
             and p.deleted_at is null
           order by p.id
           limit $2"#,
        last as _,
        limit,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(Product::from).collect())
}
