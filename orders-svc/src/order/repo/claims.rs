//! `orders.claims`: the items of the saga. `platform::saga` keeps the columns of its worker.

use chrono::{DateTime, Utc};
use platform::{idempotency::Scope, saga::LEASE};
use sqlx::{PgConnection, types::Json};

use crate::order::model::{Claim, Intent, OpenClaim, OrderId, VALIDITY};

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

/// Claims the order. Returns `None` if it is already claimed.
pub(crate) async fn insert_in_tx(
    conn: &mut PgConnection,
    claim: Claim,
) -> Result<Option<OpenClaim>, sqlx::Error> {
    let not_after = sqlx::query_scalar!(
        "insert into orders.claims (
             order_id, sequence, action, intent, idempotency_scope, due_at, not_after)
         values ($1, $2, $3, $4, $5, now() + $6 * interval '1 second', now() + $7 * interval '1 second')
         on conflict on constraint claims_pkey do nothing
         returning not_after",
        claim.order_id as _,
        claim.sequence,
        claim.action().name(),
        Json(&claim.intent) as _,
        claim.idempotency_scope.as_ref().map(Scope::as_bytes),
        LEASE.as_secs_f64(),
        VALIDITY.as_secs_f64(),
    )
    .fetch_optional(conn)
    .await?;
    Ok(not_after.map(|not_after| OpenClaim { claim, not_after }))
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
    let deleted = sqlx::query!(
        "delete from orders.claims where order_id = $1 and sequence = $2",
        claim.order_id as _,
        claim.sequence,
    )
    .execute(conn)
    .await?;
    Ok(deleted.rows_affected() == 1)
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
