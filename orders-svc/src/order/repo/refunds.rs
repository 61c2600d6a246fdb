//! `orders.refunds` and `orders.refund_legs`.

use chrono::{DateTime, Utc};
use platform::{money::Amount, pg::ensure_affected};
use sqlx::{PgConnection, types::Json};
use uuid::Uuid;

use super::payments;
use crate::order::model::{Claim, OrderId, Refund, TransactionId};

/// Counts the refunds of an order.
pub(crate) async fn count(conn: &mut PgConnection, order_id: OrderId) -> Result<i64, sqlx::Error> {
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from orders.refunds where order_id = $1"#,
        order_id as _
    );
    count.fetch_one(conn).await
}

/// Sums the refunds of an order, in its asset.
pub(crate) async fn sum(conn: &mut PgConnection, order_id: OrderId) -> Result<Amount, sqlx::Error> {
    let sum = sqlx::query_scalar!(
        r#"select coalesce(sum(amount), 0) as "sum!: Amount" from orders.refunds where order_id = $1"#,
        order_id as _
    );
    sum.fetch_one(conn).await
}

/// Inserts a refund with its transactions, and adds it to the refunded amounts of the payments. A
/// refund of nothing is not inserted.
pub(crate) async fn insert_in_tx(
    conn: &mut PgConnection,
    id: Uuid,
    claim: &Claim,
    refund: &Refund,
    transactions: &[TransactionId],
    now: DateTime<Utc>,
) -> Result<(), sqlx::Error> {
    if !refund.amount.is_positive() {
        return Ok(());
    }
    let lines = (!refund.lines.is_empty()).then_some(Json(&refund.lines));
    sqlx::query!(
        "insert into orders.refunds (id, order_id, claim, amount, lines, reason, actor, created_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8)",
        id,
        claim.order_id as _,
        claim.sequence,
        refund.amount as _,
        lines as _,
        refund.reason,
        claim.intent.actor,
        now,
    )
    .execute(&mut *conn)
    .await?;
    insert_legs_in_tx(conn, id, refund, transactions).await?;
    let legs: Vec<_> = refund.legs.iter().chain(&refund.rounded_off).collect();
    payments::refund_in_tx(conn, &legs).await
}

async fn insert_legs_in_tx(
    conn: &mut PgConnection,
    id: Uuid,
    refund: &Refund,
    transactions: &[TransactionId],
) -> Result<(), sqlx::Error> {
    let legs = &refund.legs;
    let payments: Vec<_> = legs.iter().map(|leg| leg.refunded_payment).collect();
    let amounts: Vec<_> = legs.iter().map(|leg| leg.amount).collect();
    let order_amounts: Vec<_> = legs.iter().map(|leg| leg.order_amount).collect();
    let inserted = sqlx::query!(
        "insert into orders.refund_legs
             (transaction_id, refund_id, payment_id, amount, order_amount)
         select leg.transaction_id, $1, leg.payment_id, leg.amount, leg.order_amount
         from unnest($2::uuid[], $3::uuid[], $4::numeric[], $5::numeric[])
             as leg (transaction_id, payment_id, amount, order_amount)",
        id,
        transactions as _,
        &payments as _,
        &amounts as _,
        &order_amounts as _,
    )
    .execute(conn)
    .await?;
    ensure_affected(inserted, legs.len() as u64)
}
