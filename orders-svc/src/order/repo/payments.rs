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

/// Adds the legs of a refund, of which a payment has one, to the refunded amounts of their payments.
pub(crate) async fn refund_in_tx(
    conn: &mut PgConnection,
    legs: &[&Leg],
) -> Result<(), sqlx::Error> {
    let payments: Vec<_> = legs.iter().map(|leg| leg.refunded_payment).collect();
    let amounts: Vec<_> = legs.iter().map(|leg| leg.amount).collect();
    let values: Vec<_> = legs.iter().map(|leg| leg.value()).collect();
    let refunded = sqlx::query!(
        "update orders.payments
         set refunded_amount = refunded_amount + leg.amount, refunded_value = refunded_value + leg.value
         from unnest($1::uuid[], $2::numeric[], $3::numeric[]) as leg (payment_id, amount, value)
         where transaction_id = leg.payment_id",
        &payments as _,
        &amounts as _,
        &values as _,
    )
    .execute(conn)
    .await?;
    ensure_affected(refunded, legs.len() as u64)
}
