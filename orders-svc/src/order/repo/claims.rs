//! `orders.claims`: the items of the saga. `platform::saga` keeps the columns of its worker.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use platform::{idempotency::Scope, saga::LEASE};
use sqlx::{PgConnection, types::Json};

use super::column;
use crate::order::model::{Claim, ClaimId, Intent, OpenClaim, OrderId, VALIDITY};

struct Row {
    order_id: OrderId,
    sequence: i32,
    intent: Json<Intent>,
    idempotency_scope: Option<Vec<u8>>,
    not_after: DateTime<Utc>,
}

impl From<Row> for OpenClaim {
    fn from(row: Row) -> Self {
        let claim = Claim {
            order_id: row.order_id,
            sequence: row.sequence,
            intent: row.intent.0,
            idempotency_scope: row
                .idempotency_scope
                .and_then(|scope| Scope::from_bytes(&scope)),
        };
        Self {
            claim,
            not_after: row.not_after,
        }
    }
}

/// Claims orders. Returns until when the ledger may accept the claims, without those of orders that are claimed
/// already.
pub(crate) async fn insert_all_in_tx(
    conn: &mut PgConnection,
    claims: &[&Claim],
) -> Result<HashMap<OrderId, DateTime<Utc>>, sqlx::Error> {
    let inserted = sqlx::query!(
        r#"insert into orders.claims (
             order_id, sequence, action, intent, idempotency_scope, due_at, not_after)
         select claim.*, now() + $6 * interval '1 second', now() + $7 * interval '1 second'
         from unnest($1::uuid[], $2::integer[], $3::text[], $4::jsonb[], $5::bytea[]) as claim
         on conflict on constraint claims_pkey do nothing
         returning order_id as "order_id: OrderId", not_after"#,
        &column(claims, |claim| claim.order_id) as _,
        &column(claims, |claim| claim.sequence),
        &column(claims, |claim| claim.action().name()) as _,
        &column(claims, |claim| Json(&claim.intent)) as _,
        &column(claims, |claim| claim
            .idempotency_scope
            .as_ref()
            .map(Scope::as_bytes)) as _,
        LEASE.as_secs_f64(),
        VALIDITY.as_secs_f64(),
    )
    .fetch_all(conn)
    .await?;
    let ends = inserted
        .into_iter()
        .map(|row| (row.order_id, row.not_after));
    Ok(ends.collect())
}

pub(crate) async fn find(
    conn: &mut PgConnection,
    order_id: OrderId,
) -> Result<Option<OpenClaim>, sqlx::Error> {
    let row = sqlx::query_as!(
        Row,
        "select order_id, sequence, intent, idempotency_scope, not_after
         from orders.claims where order_id = $1",
        order_id as _
    );
    Ok(row.fetch_optional(conn).await?.map(OpenClaim::from))
}

/// Returns whether an operation on the order is in progress.
pub(crate) async fn is_claimed(
    conn: &mut PgConnection,
    order_id: OrderId,
) -> Result<bool, sqlx::Error> {
    let claimed = sqlx::query_scalar!(
        r#"select exists (select from orders.claims where order_id = $1) as "claimed!""#,
        order_id as _
    );
    claimed.fetch_one(conn).await
}

/// Deletes the claim. Returns `false` if it is already gone.
pub(crate) async fn delete_in_tx(
    conn: &mut PgConnection,
    claim: &Claim,
) -> Result<bool, sqlx::Error> {
    let deleted = delete_all_in_tx(conn, &[claim.id()]).await?;
    Ok(!deleted.is_empty())
}

/// Deletes claims. Returns the orders of those that were not gone.
pub(crate) async fn delete_all_in_tx(
    conn: &mut PgConnection,
    claims: &[ClaimId],
) -> Result<HashSet<OrderId>, sqlx::Error> {
    let deleted = sqlx::query_scalar!(
        r#"delete from orders.claims c
         using unnest($1::uuid[], $2::integer[]) as given (order_id, sequence)
         where c.order_id = given.order_id and c.sequence = given.sequence
         returning c.order_id as "order_id: OrderId""#,
        &column(claims, |claim| claim.order_id) as _,
        &column(claims, |claim| claim.sequence),
    );
    Ok(deleted.fetch_all(conn).await?.into_iter().collect())
}

/// Deletes the claim if no worker has taken it yet. Returns `false` if one has, or if it is gone.
pub(crate) async fn delete_untaken_in_tx(
    conn: &mut PgConnection,
    claim: &Claim,
) -> Result<bool, sqlx::Error> {
    let deleted = sqlx::query!(
        "delete from orders.claims where order_id = $1 and sequence = $2 and attempts = 0",
        claim.order_id as _,
        claim.sequence,
    )
    .execute(conn)
    .await?;
    Ok(deleted.rows_affected() == 1)
}
