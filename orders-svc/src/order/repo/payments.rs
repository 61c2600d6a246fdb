//! `orders.payments`.

use chrono::{DateTime, Utc};
use platform::pg::ensure_affected;
use sqlx::PgConnection;

use super::column;
use crate::order::model::{ClaimId, Leg, OrderId, Payment, TransactionId};

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

/// The payments that a claim takes, one for each leg.
#[derive(Debug)]
pub(crate) struct ClaimPayments {
    pub(crate) claim: ClaimId,
    pub(crate) legs: Vec<(Leg, TransactionId)>,
    pub(crate) created_at: DateTime<Utc>,
}

/// Inserts the payments of claims.
pub(crate) async fn insert_all_in_tx(
    conn: &mut PgConnection,
    claims: &[&ClaimPayments],
) -> Result<(), sqlx::Error> {
    let rows: Vec<_> = claims
        .iter()
        .flat_map(|claim| {
            (0_i32..)
                .zip(&claim.legs)
                .map(move |(number, leg)| (*claim, number, leg))
        })
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    let inserted = sqlx::query!(
        "insert into orders.payments (
             transaction_id, order_id, claim, leg, wallet_id, asset_code, amount, order_amount,
             is_bonus, created_at, refunded_amount, refunded_value)
         select payment.*, 0, 0
         from unnest($1::uuid[], $2::uuid[], $3::integer[], $4::integer[], $5::uuid[], $6::text[],
                     $7::numeric[], $8::numeric[], $9::boolean[], $10::timestamptz[]) as payment",
        &column(&rows, |(_, _, (_, transaction))| *transaction) as _,
        &column(&rows, |(payments, _, _)| payments.claim.order_id) as _,
        &column(&rows, |(payments, _, _)| payments.claim.sequence),
        &column(&rows, |(_, number, _)| number),
        &column(&rows, |(_, _, (leg, _))| leg.wallet_id) as _,
        &column(&rows, |(_, _, (leg, _))| &*leg.asset_code) as _,
        &column(&rows, |(_, _, (leg, _))| leg.amount) as _,
        &column(&rows, |(_, _, (leg, _))| leg.order_amount) as _,
        &column(&rows, |(_, _, (leg, _))| leg.is_bonus),
        &column(&rows, |(payments, _, _)| payments.created_at),
    )
    .execute(conn)
    .await?;
    ensure_affected(inserted, rows.len() as u64)
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
