//! The transactions of an order: `orders.payments` and `orders.refund_legs`.

use chrono::{DateTime, Utc};
use platform::{
    error::Failure,
    list::{Key, List, Page},
    money::Amount,
};
use proto::{
    common::v1::{ListRequest, Sort},
    lists::{MAX_PAGE_SIZE, orders::ORDER_PAYMENTS},
};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::order::model::{OrderId, TransactionId, WalletId};

/// A payment, or the part of a refund that gives one back.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub(crate) struct OrderTransaction {
    pub(crate) transaction_id: TransactionId,
    pub(crate) order_id: OrderId,
    pub(crate) amount: Amount,
    pub(crate) asset_code: String,
    /// Value in the order's asset.
    pub(crate) order_amount: Amount,
    /// On the buyer's side.
    pub(crate) wallet_id: WalletId,
    pub(crate) is_bonus: bool,
    /// `None` of a refund.
    pub(crate) refunded_amount: Option<Amount>,
    /// The payment that a refund gives back.
    pub(crate) payment_id: Option<TransactionId>,
    pub(crate) refund_id: Option<Uuid>,
    /// JSON text.
    pub(crate) reason: Option<String>,
    pub(crate) created_at: DateTime<Utc>,
}

/// Both tables in the form of [`OrderTransaction`].
const TRANSACTIONS: &str = "(
    select p.transaction_id, p.order_id, 'payment' as type, p.amount, p.asset_code,
           coalesce(p.order_amount, p.amount) as order_amount, p.wallet_id, p.is_bonus,
           p.refunded_amount, null::uuid as payment_id, null::uuid as refund_id,
           null::text as reason, p.created_at
    from orders.payments p
    union all
    select l.transaction_id, r.order_id, 'refund', l.amount, p.asset_code,
           coalesce(l.order_amount, l.amount), p.wallet_id, p.is_bonus, null, p.transaction_id,
           r.id, r.reason, r.created_at
    from orders.refunds r
    join orders.refund_legs l on l.refund_id = r.id
    join orders.payments p on p.transaction_id = l.payment_id) t";

/// Returns all payments and refunds of an order, oldest first. They are fewer than a page holds, because
/// both are bounded and a refund ends in at most one payment that it does not empty.
pub(crate) async fn of_order(
    conn: &mut PgConnection,
    order_id: OrderId,
) -> Result<Vec<OrderTransaction>, Failure> {
    let oldest_first = Sort {
        field: "createdAt".to_owned(),
        descending: false,
    };
    let all = ListRequest {
        sort: vec![oldest_first],
        page_size: Some(MAX_PAGE_SIZE),
        ..ListRequest::default()
    };
    Ok(list(conn, &all, order_id).await?.rows)
}

/// Lists the payments and refunds of an order.
pub(crate) async fn list(
    conn: &mut PgConnection,
    request: &ListRequest,
    order_id: OrderId,
) -> Result<Page<OrderTransaction>, Failure> {
    List::new(&ORDER_PAYMENTS, TRANSACTIONS, Key::Id("t.transaction_id"))
        .select("t.*")
        .only_with("t.order_id = ?", Some(order_id.uuid()))
        .fetch(conn, request)
        .await
}
