//! `orders.order_history`.

use chrono::{DateTime, Utc};
use platform::{
    error::Failure,
    list::{Key, List, Page},
    money::Amount,
    pg::ensure_affected,
};
use proto::{common::v1::ListRequest, lists::orders::ORDER_HISTORY};
use sqlx::PgConnection;
use uuid::Uuid;

use super::column;
use crate::order::model::{HistoryAction, OrderId, OrderStatus, PaymentStatus};

/// An entry of the history.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub(crate) struct Recorded {
    pub(crate) id: Uuid,
    pub(crate) order_id: OrderId,
    pub(crate) action: HistoryAction,
    /// As in the audit log.
    pub(crate) actor: String,
    pub(crate) from_order_status: Option<OrderStatus>,
    pub(crate) order_status: OrderStatus,
    pub(crate) from_payment_status: Option<PaymentStatus>,
    pub(crate) payment_status: PaymentStatus,
    pub(crate) amount: Option<Amount>,
    /// The order's.
    pub(crate) asset_code: String,
    /// JSON text.
    pub(crate) reason: Option<String>,
    pub(crate) note: Option<String>,
    /// JSON text.
    pub(crate) details: String,
    pub(crate) created_at: DateTime<Utc>,
}

/// Inserts entries, those of an order one after another; the caller has locked the rows of the orders.
pub(crate) async fn insert_all_in_tx(
    conn: &mut PgConnection,
    entries: &[&Recorded],
) -> Result<(), sqlx::Error> {
    if entries.is_empty() {
        return Ok(());
    }
    let inserted = sqlx::query!(
        "insert into orders.order_history (
             id, order_id, action, actor, from_order_status, order_status, from_payment_status,
             payment_status, amount, reason, note, details, created_at, sequence)
         select entry.id, entry.order_id, action, actor, from_order_status, order_status,
                from_payment_status, payment_status, amount, reason, note, details::jsonb, created_at,
                coalesce(last.sequence, 0) + row_number() over (partition by entry.order_id order by n)
         from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[],
                     $7::text[], $8::text[], $9::numeric[], $10::text[], $11::text[], $12::text[],
                     $13::timestamptz[]) with ordinality
                as entry (id, order_id, action, actor, from_order_status, order_status,
                          from_payment_status, payment_status, amount, reason, note, details,
                          created_at, n)
         left join lateral (
             select max(sequence) as sequence
             from orders.order_history h where h.order_id = entry.order_id) last on true",
        &column(entries, |entry| entry.id),
        &column(entries, |entry| entry.order_id) as _,
        &column(entries, |entry| entry.action.as_str()) as _,
        &column(entries, |entry| &*entry.actor) as _,
        &column(entries, |entry| entry.from_order_status) as _,
        &column(entries, |entry| entry.order_status) as _,
        &column(entries, |entry| entry.from_payment_status) as _,
        &column(entries, |entry| entry.payment_status) as _,
        &column(entries, |entry| entry.amount) as _,
        &column(entries, |entry| entry.reason.as_deref()) as _,
        &column(entries, |entry| entry.note.as_deref()) as _,
        &column(entries, |entry| &*entry.details) as _,
        &column(entries, |entry| entry.created_at),
    )
    .execute(conn)
    .await?;
    ensure_affected(inserted, entries.len() as u64)
}

/// Lists the entries of an order, oldest first; notes only where they are asked for.
pub(crate) async fn list(
    conn: &mut PgConnection,
    request: &ListRequest,
    order_id: OrderId,
    with_notes: bool,
) -> Result<Page<Recorded>, Failure> {
    let list = List::new(
        &ORDER_HISTORY,
        "orders.order_history h join orders.orders o on o.id = h.order_id",
        Key::Id("h.id"),
    )
    .select(
        "h.id, h.order_id, h.action, h.actor, h.from_order_status, h.order_status,
         h.from_payment_status, h.payment_status, h.amount, o.asset_code, h.reason, h.note,
         h.details::text as details, h.created_at",
    )
    .only_with("h.order_id = ?", Some(order_id.uuid()));
    let list = if with_notes {
        list
    } else {
        list.only("h.action <> 'note'")
    };
    list.fetch(conn, request).await
}
