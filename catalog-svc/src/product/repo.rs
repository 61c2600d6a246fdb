//! SQL of products. Deleted rows are not seen.

use platform::{
    error::Failure,
    ids::Id,
    list::{Key, List, Page},
    pg::ensure_affected,
    rank::Rank,
};
use proto::{common::v1::ListRequest, lists::catalog::PRODUCTS};
use sqlx::PgConnection;

use super::{Product, View, pricing::PricingAsset, row::ProductRow, search::Search};

/// Inserts new products in one statement.
pub(crate) async fn insert_in_tx(
    conn: &mut PgConnection,
    products: &[&Product],
) -> Result<(), sqlx::Error> {
    let inserted = sqlx::query!(
        "insert into catalog.products
             (id, name, description, category_id, tax_rate_id, asset_code, price, bonus, type_code,
              allow_choosing_quantity, available, featured, visible, requires_identity,
              button_label, list_label, url, image, thumbnail, rank, custom_data, version,
              created_at, updated_at, search, name_search)
         select * from unnest
             ($1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::uuid[], $6::text[],
              $7::numeric[], $8::numeric[], $9::text[], $10::boolean[], $11::boolean[],
              $12::boolean[], $13::boolean[], $14::boolean[], $15::text[], $16::text[],
              $17::text[], $18::text[], $19::text[], $20::text[]::numeric[], $21::text[],
              $22::bigint[], $23::timestamptz[], $24::timestamptz[], $25::text[]::tsvector[],
              $26::text[]::tsvector[])",
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
        &column(products, |product| product.rank) as _,
        &column(products, |product| product.details.custom_data.clone()),
        &column(products, |product| product.version),
        &column(products, |product| product.created_at),
        &column(products, |product| product.updated_at),
        &column(products, |product| product.details.search()),
        &column(products, |product| product.details.name_search()),
    )
    .execute(conn)
    .await?;
    ensure_affected(inserted, products.len() as u64)
}

fn column<T>(products: &[&Product], value: impl Fn(&Product) -> T) -> Vec<T> {
    products.iter().map(|product| value(product)).collect()
}

/// Finds a product.
pub(crate) async fn find(
    conn: &mut PgConnection,
    id: Id<Product>,
) -> Result<Option<Product>, sqlx::Error> {
    Ok(find_all(conn, &[id]).await?.pop())
}

/// Finds the products among these ids, in the order of ids.
pub(crate) async fn find_all(
    conn: &mut PgConnection,
    ids: &[Id<Product>],
) -> Result<Vec<Product>, sqlx::Error> {
    let rows = sqlx::query_as!(
        ProductRow,
        r#"select p.id, p.name, p.description, p.category_id, p.tax_rate_id,
                  t.rate as "tax_rate?", p.asset_code, a.decimal_places, p.price, p.bonus,
                  p.type_code, p.allow_choosing_quantity, p.available, p.featured, p.visible,
                  p.requires_identity, p.button_label, p.list_label, p.url, p.image, p.thumbnail,
                  p.rank::text as "rank!: _", p.custom_data, p.version, p.created_at, p.updated_at
           from catalog.products p
           join catalog.assets a on a.code = p.asset_code
           left join catalog.tax_rates t on t.id = p.tax_rate_id
           where p.id = any($1) and p.deleted_at is null
           order by p.id"#,
        ids as _,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(Product::from).collect())
}

/// Finds the next ids after this one, in their order: as many as have texts of `max_bytes`, and at least
/// one.
pub(crate) async fn ids_after(
    conn: &mut PgConnection,
    last: Option<Id<Product>>,
    limit: i64,
    max_bytes: i64,
) -> Result<Vec<Id<Product>>, sqlx::Error> {
    sqlx::query_scalar!(
        r#"select next.id as "id!: _" from (
             select p.id, row_number() over (order by p.id) as n,
                    sum(octet_length(p.name) + octet_length(p.custom_data)
                        + coalesce(octet_length(p.description), 0)
                        + coalesce(octet_length(p.button_label), 0)
                        + coalesce(octet_length(p.list_label), 0)
                        + coalesce(octet_length(p.url), 0) + coalesce(octet_length(p.image), 0)
                        + coalesce(octet_length(p.thumbnail), 0)) over (order by p.id) as bytes
             from catalog.products p
             where p.id > coalesce($1, '00000000-0000-0000-0000-000000000000'::uuid)
               and p.deleted_at is null
             order by p.id
             limit $2) as next
         where next.n = 1 or next.bytes <= $3
         order by next.id"#,
        last as _,
        limit,
        max_bytes,
    )
    .fetch_all(conn)
    .await
}

/// Lists the products that the request asks for, among those in view.
pub(crate) async fn list(
    conn: &mut PgConnection,
    request: &ListRequest,
    view: View,
) -> Result<Page<Product>, Failure> {
    let search = Search::prepare(conn, request).await?;
    // Outer joins, though each product has an asset: Postgres leaves them out of the count.
    let from = "catalog.products p
                left join catalog.assets a on a.code = p.asset_code
                left join catalog.tax_rates t on t.id = p.tax_rate_id";
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
    let list = match view {
        View::All => list,
        View::Visible => list.only("p.visible"),
    };
    list.fetch(conn, request).await
}

/// Locks a product against every other change; false if there is none.
pub(crate) async fn lock_in_tx(
    conn: &mut PgConnection,
    id: Id<Product>,
) -> Result<bool, sqlx::Error> {
    let locked = sqlx::query!(
        "select from catalog.products where id = $1 and deleted_at is null for update",
        id as _,
    )
    .fetch_optional(conn)
    .await?;
    Ok(locked.is_some())
}

/// Updates a changed product.
pub(crate) async fn update_in_tx(
    conn: &mut PgConnection,
    product: &Product,
) -> Result<(), sqlx::Error> {
    let (details, pricing) = (&product.details, &product.pricing);
    let updated = sqlx::query!(
        "update catalog.products
         set name = $2, description = $3, category_id = $4, tax_rate_id = $5, asset_code = $6,
             price = $7, bonus = $8, type_code = $9, allow_choosing_quantity = $10,
             available = $11, featured = $12, visible = $13, requires_identity = $14,
             button_label = $15, list_label = $16, url = $17, image = $18, thumbnail = $19,
             rank = $20::text::numeric, custom_data = $21, version = $22, updated_at = $23,
             search = $24::text::tsvector, name_search = $25::text::tsvector
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
        details.search(),
        details.name_search(),
    )
    .execute(conn)
    .await?;
    ensure_affected(updated, 1)
}

/// Marks a product as deleted; its version and time are those of the deletion.
pub(crate) async fn delete_in_tx(
    conn: &mut PgConnection,
    product: &Product,
) -> Result<(), sqlx::Error> {
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

/// Returns the rank after the last product.
pub(crate) async fn next_rank(conn: &mut PgConnection) -> Result<Rank, sqlx::Error> {
    let last = sqlx::query_scalar!(
        r#"select rank::text as "rank!: Rank" from catalog.products
           where deleted_at is null
           order by rank desc, id desc
           limit 1"#,
    )
    .fetch_optional(conn)
    .await?;
    Ok(last.map_or_else(Rank::first, Rank::next))
}

/// Stores an asset for reads. Decimals are never lowered, so those stored by an event or by a later
/// response stay. Mostly nothing is new, and then nothing is locked.
pub(crate) async fn store_asset_in_tx(
    conn: &mut PgConnection,
    asset: &PricingAsset,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into catalog.assets (code, decimal_places)
         select $1, $2 where not exists (
             select from catalog.assets where code = $1 and decimal_places >= $2
         )
         on conflict (code) do update set decimal_places = excluded.decimal_places
         where assets.decimal_places < excluded.decimal_places",
        asset.code,
        asset.decimal_places as _,
    )
    .execute(conn)
    .await
    .map(drop)
}
