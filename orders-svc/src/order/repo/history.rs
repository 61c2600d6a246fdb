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

/// Inserts the entries of one change of an order, whose row the caller has locked.
pub(crate) async fn insert_in_tx(
    conn: &mut PgConnection,
    entries: &[Recorded],
) -> Result<(), sqlx::Error> {
    let Some(first) = entries.first() else {
        return Ok(());
    };
    let inserted = sqlx::query!(
        "insert into orders.order_history (
             id, order_id, sequence, action, actor, from_order_status, order_status,
             from_payment_status, payment_status, amount, reason, note, details, created_at)
         select entry.id, $1, last.sequence + entry.n, entry.action, $2, $3, $4, $5, $6,
                entry.amount, entry.reason, entry.note, entry.details::jsonb, $7
         from unnest($8::uuid[], $9::text[], $10::numeric[], $11::text[], $12::text[],
                     $13::text[]) with ordinality
                as entry (id, action, amount, reason, note, details, n),
              (select coalesce(max(sequence), 0) as sequence
               from orders.order_history where order_id = $1) last",
        first.order_id as _,
        first.actor,
        first.from_order_status as _,
        first.order_status as _,
        first.from_payment_status as _,
        first.payment_status as _,
        first.created_at,
        &column(entries, |entry| entry.id),
        &column(entries, |entry| entry.action.as_str()) as _,
        &column(entries, |entry| entry.amount) as _,
        &column(entries, |entry| entry.reason.clone()) as _,
        &column(entries, |entry| entry.note.clone()) as _,
        &column(entries, |entry| entry.details.clone()),
    )
    .execute(conn)
    .await?;
    ensure_affected(inserted, entries.len() as u64)
}

fn column<T>(entries: &[Recorded], value: impl Fn(&Recorded) -> T) -> Vec<T> {
    entries.iter().map(value).collect()
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
