//! `orders.orders`.

use chrono::{DateTime, Utc};
use platform::{
    error::Failure,
    list::{Key, List, Page},
    money::Amount,
    pg::ensure_affected,
};
use proto::{common::v1::ListRequest, lists::orders::ORDERS};
use sqlx::PgConnection;

use crate::order::model::{Order, OrderId, UserId};

/// Inserts an order. Returns `false` if its reference is taken.
pub(crate) async fn insert_in_tx(
    conn: &mut PgConnection,
    order: &Order,
) -> Result<bool, sqlx::Error> {
    let inserted = sqlx::query!(
        "insert into orders.orders (
             id, reference, user_id, wallet_id, asset_code, asset_decimal_places, amount,
             taxes_amount, shipping_amount, bonus, bonus_asset_code, bonus_decimal_places,
             bonus_skipped, bonus_revoked, paid_amount, order_status, payment_status, delivery_method, shipping_address_id,
             chosen_payment_method, user_notes, custom_data, claims, version, paid_at, created_at,
             updated_at, taxes)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
                 $19, $20, $21, $22, $23, $24, $25, $26, $27, $28)
         on conflict on constraint orders_reference_key do nothing",
        order.id as _,
        order.reference,
        order.user_id as _,
        order.wallet_id as _,
        order.asset_code,
        order.asset_decimal_places as _,
        order.amount as _,
        order.taxes_amount as _,
        order.shipping_amount as _,
        order.bonus as _,
        order.bonus_asset_code,
        order.bonus_decimal_places as _,
        order.bonus_skipped,
        order.bonus_revoked as _,
        order.paid_amount as _,
        order.order_status as _,
        order.payment_status as _,
        order.delivery_method as _,
        order.shipping_address_id,
        order.chosen_payment_method,
        order.user_notes,
        order.custom_data,
        order.claims,
        order.version,
        order.paid_at,
        order.created_at,
        order.updated_at,
        &order.taxes as _,
    )
    .execute(conn)
    .await?;
    Ok(inserted.rows_affected() == 1)
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
pub(crate) async fn update_in_tx(
    conn: &mut PgConnection,
    order: &Order,
) -> Result<(), sqlx::Error> {
    let updated = sqlx::query!(
        "update orders.orders
         set bonus_revoked = $2, paid_amount = $3, order_status = $4, payment_status = $5,
             tracking_id = $6, cancel_reason = $7, claims = $8, version = $9, paid_at = $10,
             fulfilled_at = $11, canceled_at = $12, updated_at = $13
         where id = $1",
        order.id as _,
        order.bonus_revoked as _,
        order.paid_amount as _,
        order.order_status as _,
        order.payment_status as _,
        order.tracking_id,
        order.cancel_reason,
        order.claims,
        order.version,
        order.paid_at,
        order.fulfilled_at,
        order.canceled_at,
        order.updated_at,
    )
    .execute(conn)
    .await?;
    ensure_affected(updated, 1)
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
