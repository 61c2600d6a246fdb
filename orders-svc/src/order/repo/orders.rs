//! `orders.orders`.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use platform::{
    error::Failure,
    list::{Key, List, Page},
    money::Amount,
    pg::ensure_affected,
};
use proto::{common::v1::ListRequest, lists::orders::ORDERS};
use sqlx::PgConnection;

use super::{column, lines};
use crate::order::model::{Order, OrderId, OrderWithLines, UserId};

/// Inserts orders with their lines. Returns those whose reference was not taken; nothing is inserted of the
/// others.
pub(crate) async fn insert_all_in_tx(
    conn: &mut PgConnection,
    orders: &[&OrderWithLines],
) -> Result<HashSet<OrderId>, sqlx::Error> {
    if orders.is_empty() {
        return Ok(HashSet::new());
    }
    let rows: Vec<_> = orders.iter().map(|order| &order.order).collect();
    let inserted = insert_rows_in_tx(conn, &rows).await?;
    let of_inserted = orders.iter().filter(|it| inserted.contains(&it.order.id));
    let rows: Vec<_> = of_inserted.flat_map(|order| &order.lines).collect();
    lines::insert_all_in_tx(conn, &rows).await?;
    Ok(inserted)
}

async fn insert_rows_in_tx(
    conn: &mut PgConnection,
    orders: &[&Order],
) -> Result<HashSet<OrderId>, sqlx::Error> {
    let inserted = sqlx::query_scalar!(
        r#"insert into orders.orders (
             id, reference, user_id, wallet_id, asset_code, asset_decimal_places, amount,
             taxes_amount, shipping_amount, bonus, bonus_asset_code, bonus_decimal_places,
             bonus_skipped, bonus_revoked, paid_amount, order_status, payment_status, delivery_method,
             shipping_address_id, chosen_payment_method, user_notes, custom_data, claims, version,
             paid_at, created_at, updated_at, taxes)
         select * from unnest(
             $1::uuid[], $2::text[], $3::uuid[], $4::uuid[], $5::text[], $6::smallint[], $7::numeric[],
             $8::numeric[], $9::numeric[], $10::numeric[], $11::text[], $12::smallint[],
             $13::text[], $14::numeric[], $15::numeric[], $16::text[], $17::text[], $18::text[],
             $19::text[], $20::text[], $21::text[], $22::text[], $23::integer[], $24::bigint[],
             $25::timestamptz[], $26::timestamptz[], $27::timestamptz[], $28::jsonb[])
         on conflict on constraint orders_reference_key do nothing
         returning id as "id: OrderId""#,
        &column(orders, |order| order.id) as _,
        &column(orders, |order| &*order.reference) as _,
        &column(orders, |order| order.user_id) as _,
        &column(orders, |order| order.wallet_id) as _,
        &column(orders, |order| &*order.asset_code) as _,
        &column(orders, |order| order.asset_decimal_places) as _,
        &column(orders, |order| order.amount) as _,
        &column(orders, |order| order.taxes_amount) as _,
        &column(orders, |order| order.shipping_amount) as _,
        &column(orders, |order| order.bonus) as _,
        &column(orders, |order| &*order.bonus_asset_code) as _,
        &column(orders, |order| order.bonus_decimal_places) as _,
        &column(orders, |order| order.bonus_skipped.as_deref()) as _,
        &column(orders, |order| order.bonus_revoked) as _,
        &column(orders, |order| order.paid_amount) as _,
        &column(orders, |order| order.order_status) as _,
        &column(orders, |order| order.payment_status) as _,
        &column(orders, |order| order.delivery_method) as _,
        &column(orders, |order| order.shipping_address_id.as_deref()) as _,
        &column(orders, |order| order.chosen_payment_method.as_deref()) as _,
        &column(orders, |order| order.user_notes.as_deref()) as _,
        &column(orders, |order| &*order.custom_data) as _,
        &column(orders, |order| order.claims),
        &column(orders, |order| order.version),
        &column(orders, |order| order.paid_at) as _,
        &column(orders, |order| order.created_at),
        &column(orders, |order| order.updated_at),
        &column(orders, |order| &order.taxes) as _,
    );
    Ok(inserted.fetch_all(conn).await?.into_iter().collect())
}

pub(crate) async fn find(
    conn: &mut PgConnection,
    id: OrderId,
) -> Result<Option<Order>, sqlx::Error> {
    sqlx::query_as!(Order, "select * from orders.orders where id = $1", id as _)
        .fetch_optional(conn)
        .await
}

/// Finds the user of an order.
pub(crate) async fn find_user(
    conn: &mut PgConnection,
    id: OrderId,
) -> Result<Option<UserId>, sqlx::Error> {
    sqlx::query_scalar!("select user_id from orders.orders where id = $1", id as _)
        .fetch_optional(conn)
        .await
}

/// Finds the order and locks its row until the transaction ends.
pub(crate) async fn lock_in_tx(
    conn: &mut PgConnection,
    id: OrderId,
) -> Result<Option<Order>, sqlx::Error> {
    sqlx::query_as!(
        Order,
        "select * from orders.orders where id = $1 for update",
        id as _
    )
    .fetch_optional(conn)
    .await
}

/// Returns a page of orders; only those of `user_id`, if given.
pub(crate) async fn list(
    conn: &mut PgConnection,
    request: &ListRequest,
    user_id: Option<UserId>,
) -> Result<Page<Order>, Failure> {
    List::new(&ORDERS, "orders.orders o", Key::Id("o.id"))
        .select("o.*")
        .only_with("o.user_id = ?", user_id.map(UserId::uuid))
        .flag("hideDrafts", "o.order_status <> 'draft'")
        .fetch(conn, request)
        .await
}

/// Updates the columns that can change.
pub(crate) async fn update_all_in_tx(
    conn: &mut PgConnection,
    orders: &[&Order],
) -> Result<(), sqlx::Error> {
    let updated = sqlx::query!(
        "update orders.orders o
         set bonus_revoked = new.bonus_revoked, paid_amount = new.paid_amount,
             order_status = new.order_status, payment_status = new.payment_status,
             tracking_id = new.tracking_id, cancel_reason = new.cancel_reason, claims = new.claims,
             version = new.version, paid_at = new.paid_at, fulfilled_at = new.fulfilled_at,
             canceled_at = new.canceled_at, updated_at = new.updated_at
         from unnest(
             $1::uuid[], $2::numeric[], $3::numeric[], $4::text[], $5::text[], $6::uuid[], $7::text[],
             $8::integer[], $9::bigint[], $10::timestamptz[], $11::timestamptz[], $12::timestamptz[],
             $13::timestamptz[])
             as new (id, bonus_revoked, paid_amount, order_status, payment_status, tracking_id,
                     cancel_reason, claims, version, paid_at, fulfilled_at, canceled_at, updated_at)
         where o.id = new.id",
        &column(orders, |order| order.id) as _,
        &column(orders, |order| order.bonus_revoked) as _,
        &column(orders, |order| order.paid_amount) as _,
        &column(orders, |order| order.order_status) as _,
        &column(orders, |order| order.payment_status) as _,
        &column(orders, |order| order.tracking_id) as _,
        &column(orders, |order| order.cancel_reason.as_deref()) as _,
        &column(orders, |order| order.claims),
        &column(orders, |order| order.version),
        &column(orders, |order| order.paid_at) as _,
        &column(orders, |order| order.fulfilled_at) as _,
        &column(orders, |order| order.canceled_at) as _,
        &column(orders, |order| order.updated_at),
    )
    .execute(conn)
    .await?;
    ensure_affected(updated, orders.len() as u64)
}

/// What is owed of the bonus of an order.
#[derive(Debug)]
pub(crate) struct BonusDebt {
    pub(crate) order_id: OrderId,
    /// `None` if nothing is.
    pub(crate) owed: Option<Amount>,
    /// Version of the event that says so.
    pub(crate) version: i64,
}

/// Stores what is owed of an order's bonus, unless a newer event is stored.
pub(crate) async fn update_bonus_debt_in_tx(
    conn: &mut PgConnection,
    debt: &BonusDebt,
    now: DateTime<Utc>,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update orders.orders
         set bonus_owed = $2, bonus_owed_version = $3,
             updated_at = case when bonus_owed is distinct from $2
                 then greatest($4, updated_at + interval '1 millisecond') else updated_at end
         where id = $1 and bonus_owed_version < $3",
        debt.order_id as _,
        debt.owed as _,
        debt.version,
        now,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Deletes a draft whose payment was refused.
pub(crate) async fn delete_draft_in_tx(
    conn: &mut PgConnection,
    id: OrderId,
) -> Result<(), sqlx::Error> {
    let deleted = sqlx::query!(
        "delete from orders.orders where id = $1 and order_status = 'draft'",
        id as _
    )
    .execute(conn)
    .await?;
    ensure_affected(deleted, 1)
}
