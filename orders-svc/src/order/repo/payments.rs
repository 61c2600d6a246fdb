//! `orders.payments`.

use chrono::{DateTime, Utc};
use platform::pg::ensure_affected;
use sqlx::PgConnection;

use crate::order::model::{Claim, Leg, OrderId, Payment, TransactionId};

pub(crate) async fn of_order(
    conn: &mut PgConnection,
    order_id: OrderId,
) -> Result<Vec<Payment>, sqlx::Error> {
    sqlx::query_as!(
        Payment,
        "select transaction_id, claim, leg, wallet_id, asset_code, amount,
                order_amount, is_bonus, refunded_amount, refunded_value
         from orders.payments where order_id = $1",
        order_id as _
    )
    .fetch_all(conn)
    .await
}

/// Inserts a payment for each leg of a claim.
pub(crate) async fn insert_in_tx(
    conn: &mut PgConnection,
    claim: &Claim,
    legs: &[Leg],
    transactions: &[TransactionId],
    now: DateTime<Utc>,
) -> Result<(), sqlx::Error> {
    for (index, (leg, transaction)) in (0_i32..).zip(legs.iter().zip(transactions)) {
        sqlx::query!(
            "insert into orders.payments (
                 transaction_id, order_id, claim, leg, wallet_id, asset_code, amount,
                 order_amount, is_bonus, refunded_amount, refunded_value, created_at)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, 0, $10)",
            *transaction as _,
            claim.order_id as _,
            claim.sequence,
            index,
            leg.wallet_id as _,
            leg.asset_code,
            leg.amount as _,
            leg.order_amount as _,
            leg.is_bonus,
            now,
        )
        .execute(&mut *conn)
        .await?;
    }
    Ok(())
}

/// Adds a refund's leg to the refunded amount of its payment.
pub(crate) async fn refund_in_tx(conn: &mut PgConnection, leg: &Leg) -> Result<(), sqlx::Error> {
    let refunded = sqlx::query!(
        "update orders.payments
         set refunded_amount = refunded_amount + $2, refunded_value = refunded_value + $3
         where transaction_id = $1",
        leg.refunded_payment as _,
        leg.amount as _,
        leg.value() as _,
    )
    .execute(conn)
    .await?;
    ensure_affected(refunded, 1)
}
