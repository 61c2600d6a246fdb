//! `orders.payments`.

use chrono::{DateTime, Utc};
use platform::pg::ensure_affected;
use sqlx::PgConnection;

use crate::order::{
    claim::{Claim, Leg},
    model::{OrderId, TransactionId},
    payment::Payment,
};

/// What was paid for an order.
pub async fn of_order(
    conn: &mut PgConnection,
    order_id: OrderId,
) -> Result<Vec<Payment>, sqlx::Error> {
    sqlx::query_as!(
        Payment,
        "select transaction_id, claim, leg, wallet_id, asset_code, amount, covers, refunded_amount
         from orders.payments where order_id = $1",
        order_id as _
    )
    .fetch_all(conn)
    .await
}

/// Records what the legs of a claim took.
pub async fn insert_in_tx(
    conn: &mut PgConnection,
    claim: &Claim,
    legs: &[Leg],
    transactions: &[TransactionId],
    now: DateTime<Utc>,
) -> Result<(), sqlx::Error> {
    for (place, (leg, transaction)) in (0_i32..).zip(legs.iter().zip(transactions)) {
        sqlx::query!(
            "insert into orders.payments (
                 transaction_id, order_id, claim, leg, wallet_id, asset_code, amount, covers,
                 refunded_amount, created_at)
             values ($1, $2, $3, $4, $5, $6, $7, $8, 0, $9)",
            *transaction as _,
            claim.order_id as _,
            claim.n,
            place,
            leg.wallet_id as _,
            leg.asset_code,
            leg.amount as _,
            leg.covers as _,
            now,
        )
        .execute(&mut *conn)
        .await?;
    }
    Ok(())
}

/// Notes that the leg gave its payment back, or a part of it.
pub async fn refund_in_tx(conn: &mut PgConnection, leg: &Leg) -> Result<(), sqlx::Error> {
    let refunded = sqlx::query!(
        "update orders.payments set refunded_amount = refunded_amount + $2
         where transaction_id = $1",
        leg.refunds as _,
        leg.amount as _,
    )
    .execute(conn)
    .await?;
    ensure_affected(refunded, 1)
}
