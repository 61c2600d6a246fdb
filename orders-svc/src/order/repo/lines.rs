//! `orders.order_lines`.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use futures::TryStreamExt as _;
use platform::{
    error::Failure,
    list::{Key, List, MAX_PAGE_BYTES, Page},
    pg::ensure_affected,
};
use proto::{common::v1::ListRequest, lists::orders::ORDER_LINES};
use sqlx::PgConnection;

use super::column;
use crate::order::model::{Line, LineId, LineUnits, OrderId};

/// Inserts the lines of new orders, in one statement.
pub(crate) async fn insert_all_in_tx(
    conn: &mut PgConnection,
    lines: &[&Line],
) -> Result<(), sqlx::Error> {
    let inserted = sqlx::query!(
        "insert into orders.order_lines (
             id, order_id, position, product_id, product_name, product, quantity,
             fulfilled_quantity, status, unit_price, unit_tax, tax_rate, unit_bonus, asset_code,
             bonus_asset_code, answers, created_at, updated_at)
         select line.id, line.order_id, line.position, line.product_id, line.product_name,
                line.product, line.quantity, 0, 'unfulfilled', line.unit_price, line.unit_tax,
                line.tax_rate, line.unit_bonus, line.asset_code, line.bonus_asset_code,
                line.answers, line.created_at, line.created_at
         from unnest($1::uuid[], $2::uuid[], $3::integer[], $4::uuid[], $5::jsonb[], $6::integer[],
                     $7::numeric[], $8::numeric[], $9::numeric[], $10::numeric[], $11::text[],
                     $12::text[], $13::timestamptz[], $14::text[], $15::text[])
             as line (id, order_id, position, product_id, product, quantity, unit_price, unit_tax,
                      tax_rate, unit_bonus, asset_code, bonus_asset_code, created_at, answers,
                      product_name)",
        &column(lines, |line| line.id) as _,
        &column(lines, |line| line.order_id) as _,
        &column(lines, |line| line.position),
        &column(lines, |line| line.product_id) as _,
        &column(lines, |line| line.product.as_ref()) as _,
        &column(lines, |line| line.quantity),
        &column(lines, |line| line.unit_price) as _,
        &column(lines, |line| line.unit_tax) as _,
        &column(lines, |line| line.tax_rate) as _,
        &column(lines, |line| line.unit_bonus) as _,
        &column(lines, |line| &*line.asset_code) as _,
        &column(lines, |line| &*line.bonus_asset_code) as _,
        &column(lines, |line| line.created_at),
        &column(lines, |line| line.answers.as_deref()) as _,
        &column(lines, |line| &*line.product_name) as _,
    )
    .execute(conn)
    .await?;
    ensure_affected(inserted, lines.len() as u64)
}

/// Returns the lines of orders without their products, sorted by order and position.
pub(crate) async fn of_orders(
    conn: &mut PgConnection,
    order_ids: &[OrderId],
) -> Result<Vec<Line>, sqlx::Error> {
    sqlx::query_as!(
        Line,
        r#"select id, order_id, position, product_id, product_name, null::jsonb as "product: _",
                  quantity, fulfilled_quantity, refunded_quantity, status, unit_price, unit_tax,
                  tax_rate, unit_bonus, asset_code, bonus_asset_code, answers, fulfilled_at, created_at,
                  updated_at
           from orders.order_lines where order_id = any($1) order by order_id, position"#,
        order_ids as _
    )
    .fetch_all(conn)
    .await
}

/// Bytes that a line is counted with, beside its texts.
const LINE_BYTES: usize = 400;

/// The lines of the orders of a page.
#[derive(Debug, Default)]
pub(crate) struct LinesOfPage {
    /// Each order's in the order of the cart.
    pub(crate) by_order: HashMap<OrderId, Vec<Line>>,
    /// The first order whose lines were left out.
    pub(crate) ends_before: Option<OrderId>,
}

/// Returns the lines of the orders of a page without their products: those of as many orders as
/// [`MAX_PAGE_BYTES`] holds, and at least of one.
pub(crate) async fn of_page(
    conn: &mut PgConnection,
    order_ids: &[OrderId],
) -> Result<LinesOfPage, sqlx::Error> {
    let mut lines = sqlx::query_as!(
        Line,
        r#"select l.id, l.order_id, l.position, l.product_id, l.product_name,
                  null::jsonb as "product: _", l.quantity, l.fulfilled_quantity,
                  l.refunded_quantity, l.status, l.unit_price, l.unit_tax, l.tax_rate, l.unit_bonus, l.asset_code,
                  l.bonus_asset_code, l.answers, l.fulfilled_at, l.created_at, l.updated_at
           from unnest($1::uuid[]) with ordinality as page (order_id, n)
           join orders.order_lines l on l.order_id = page.order_id
           order by page.n, l.position"#,
        order_ids as _
    )
    .fetch(conn);
    let mut page = LinesOfPage::default();
    let mut bytes = 0;
    while let Some(line) = lines.try_next().await? {
        let answers = line.answers.as_ref().map_or(0, String::len);
        bytes += LINE_BYTES + line.product_name.len() + answers;
        let begins_order = !page.by_order.contains_key(&line.order_id);
        if begins_order && bytes > MAX_PAGE_BYTES && !page.by_order.is_empty() {
            page.ends_before = Some(line.order_id);
            break;
        }
        page.by_order.entry(line.order_id).or_default().push(line);
    }
    Ok(page)
}

/// Finds a line with its product.
pub(crate) async fn find(
    conn: &mut PgConnection,
    order_id: OrderId,
    id: LineId,
) -> Result<Option<Line>, sqlx::Error> {
    sqlx::query_as!(
        Line,
        r#"select id, order_id, position, product_id, product_name, product as "product?: _",
                  quantity, fulfilled_quantity, refunded_quantity, status, unit_price, unit_tax,
                  tax_rate, unit_bonus, asset_code, bonus_asset_code, answers, fulfilled_at, created_at,
                  updated_at
           from orders.order_lines where order_id = $1 and id = $2"#,
        order_id as _,
        id as _
    )
    .fetch_optional(conn)
    .await
}

/// Lists the lines of an order, with their products if they are included.
pub(crate) async fn list(
    conn: &mut PgConnection,
    request: &ListRequest,
    order_id: OrderId,
) -> Result<Page<Line>, Failure> {
    let include_product = request.include.iter().any(|name| name == "product");
    let columns = if include_product {
        "l.*"
    } else {
        "l.id, l.order_id, l.position, l.product_id, l.product_name, null::jsonb as product,
         l.quantity, l.fulfilled_quantity, l.refunded_quantity, l.status, l.unit_price, l.unit_tax, l.tax_rate,
         l.unit_bonus, l.asset_code, l.bonus_asset_code, l.answers, l.fulfilled_at, l.created_at,
         l.updated_at"
    };
    List::new(&ORDER_LINES, "orders.order_lines l", Key::Id("l.id"))
        .select(columns)
        .only_with("l.order_id = ?", Some(order_id.uuid()))
        .fetch(conn, request)
        .await
}

/// Updates the columns that can change.
pub(crate) async fn update_in_tx(conn: &mut PgConnection, line: &Line) -> Result<(), sqlx::Error> {
    let updated = sqlx::query!(
        "update orders.order_lines
         set fulfilled_quantity = $2, status = $3, fulfilled_at = $4, updated_at = $5
         where id = $1",
        line.id as _,
        line.fulfilled_quantity,
        line.status as _,
        line.fulfilled_at,
        line.updated_at,
    )
    .execute(conn)
    .await?;
    ensure_affected(updated, 1)
}

/// Adds refunded units to their lines, each of which is named once.
pub(crate) async fn refund_in_tx(
    conn: &mut PgConnection,
    refunded: &[LineUnits],
    now: DateTime<Utc>,
) -> Result<(), sqlx::Error> {
    if refunded.is_empty() {
        return Ok(());
    }
    let lines: Vec<_> = refunded.iter().map(|units| units.line_id).collect();
    let quantities: Vec<_> = refunded.iter().map(|units| units.quantity).collect();
    let updated = sqlx::query!(
        "update orders.order_lines
         set refunded_quantity = refunded_quantity + units.quantity, updated_at = $3
         from unnest($1::uuid[], $2::integer[]) as units (line_id, quantity)
         where id = units.line_id",
        &lines as _,
        &quantities,
        now,
    )
    .execute(conn)
    .await?;
    ensure_affected(updated, refunded.len() as u64)
}

/// Sets the status of all lines of an order.
pub(crate) async fn cancel_in_tx(
    conn: &mut PgConnection,
    order_id: OrderId,
    now: DateTime<Utc>,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update orders.order_lines set status = 'canceled', updated_at = $2 where order_id = $1",
        order_id as _,
        now,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Deletes the lines of a draft.
pub(crate) async fn delete_in_tx(
    conn: &mut PgConnection,
    order_id: OrderId,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "delete from orders.order_lines where order_id = $1",
        order_id as _
    )
    .execute(conn)
    .await?;
    Ok(())
}
