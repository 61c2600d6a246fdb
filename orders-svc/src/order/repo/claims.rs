//! `orders.claims`: the items of the saga. `platform::saga` keeps the columns of its worker.

use platform::{idempotency::Scope, saga::LEASE};
use sqlx::{PgConnection, types::Json};

use crate::order::model::{Claim, Intent, OrderId};

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
             order_id, sequence, action, intent, idempotency_scope, due_at)
         values ($1, $2, $3, $4, $5, now() + $6 * interval '1 second')
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

pub(crate) async fn find(
    conn: &mut PgConnection,
    order_id: OrderId,
) -> Result<Option<Claim>, sqlx::Error> {
    let row = sqlx::query_as!(
        Row,
        "select order_id, sequence, intent, idempotency_scope
         from orders.claims where order_id = $1",
        order_id as _
    );
    Ok(row.fetch_optional(conn).await?.map(Claim::from))
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
