//! `orders.claims`. Due times are by the database's clock.

use std::time::Duration;

use platform::idempotency::Scope;
use sqlx::{PgConnection, types::Json};

use crate::order::model::{Claim, Intent, OrderId};

/// How long the process that made a claim drives it alone.
const LEASE: Duration = Duration::from_secs(10);

struct Row {
    order_id: OrderId,
    sequence: i32,
    intent: Json<Intent>,
    idempotency_scope: Option<Vec<u8>>,
}

impl From<Row> for Claim {
    fn from(row: Row) -> Self {
        Self {
            order_id: row.order_id,
            sequence: row.sequence,
            intent: row.intent.0,
            idempotency_scope: row
                .idempotency_scope
                .and_then(|scope| Scope::from_bytes(&scope)),
        }
    }
}

/// Claims the order. Returns `false` if it is already claimed.
pub(crate) async fn insert_in_tx(
    conn: &mut PgConnection,
    claim: &Claim,
) -> Result<bool, sqlx::Error> {
    let inserted = sqlx::query!(
        "insert into orders.claims (
             order_id, sequence, action, intent, idempotency_scope, due_at, created_at)
         values ($1, $2, $3, $4, $5, now() + $6 * interval '1 second', now())
         on conflict on constraint claims_pkey do nothing",
        claim.order_id as _,
        claim.sequence,
        claim.action().name(),
        Json(&claim.intent) as _,
        claim.idempotency_scope.as_ref().map(Scope::as_bytes),
        LEASE.as_secs_f64(),
    )
    .execute(conn)
    .await?;
    Ok(inserted.rows_affected() == 1)
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

/// Takes over claims whose lease has expired, the oldest first.
pub(crate) async fn take_due(
    conn: &mut PgConnection,
    limit: i64,
) -> Result<Vec<Claim>, sqlx::Error> {
    let rows = sqlx::query_as!(
        Row,
        "update orders.claims set due_at = now() + $1 * interval '1 second'
         where order_id in (
             select order_id from orders.claims where due_at < now()
             order by due_at limit $2 for update skip locked)
         returning order_id, sequence, intent, idempotency_scope",
        LEASE.as_secs_f64(),
        limit,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(Claim::from).collect())
}
