//! `orders.claims`. The database's clock decides how long one is held.

use std::time::Duration;

use sqlx::{PgConnection, types::Json};

use crate::order::{
    claim::{Claim, Kind, Plan},
    model::OrderId,
};

/// How long a process has to drive its claim before others may.
const HELD: Duration = Duration::from_secs(10);

struct Row {
    order_id: OrderId,
    n: i32,
    kind: Kind,
    plan: Json<Plan>,
    idempotency_scope: Option<Vec<u8>>,
}

impl From<Row> for Claim {
    fn from(row: Row) -> Self {
        Self {
            order_id: row.order_id,
            n: row.n,
            kind: row.kind,
            plan: row.plan.0,
            idempotency_scope: row.idempotency_scope,
        }
    }
}

/// Claims the order. `false` if it is claimed already.
pub async fn insert_in_tx(conn: &mut PgConnection, claim: &Claim) -> Result<bool, sqlx::Error> {
    let inserted = sqlx::query!(
        "insert into orders.claims (
             order_id, n, kind, plan, idempotency_scope, held_until, created_at)
         values ($1, $2, $3, $4, $5, now() + $6 * interval '1 second', now())
         on conflict on constraint claims_pkey do nothing",
        claim.order_id as _,
        claim.n,
        claim.kind as _,
        Json(&claim.plan) as _,
        claim.idempotency_scope,
        HELD.as_secs_f64(),
    )
    .execute(conn)
    .await?;
    Ok(inserted.rows_affected() == 1)
}

/// Whether an operation on the order is under way.
pub async fn is_claimed(conn: &mut PgConnection, order_id: OrderId) -> Result<bool, sqlx::Error> {
    let claimed = sqlx::query_scalar!(
        r#"select exists (select from orders.claims where order_id = $1) as "claimed!""#,
        order_id as _
    );
    claimed.fetch_one(conn).await
}

/// Ends the claim. `false` if somebody else has.
pub async fn delete_in_tx(conn: &mut PgConnection, claim: &Claim) -> Result<bool, sqlx::Error> {
    let deleted = sqlx::query!(
        "delete from orders.claims where order_id = $1 and n = $2",
        claim.order_id as _,
        claim.n,
    )
    .execute(conn)
    .await?;
    Ok(deleted.rows_affected() == 1)
}

/// Takes over claims that nobody drives any more, the oldest first.
pub async fn take_abandoned(
    conn: &mut PgConnection,
    limit: i64,
) -> Result<Vec<Claim>, sqlx::Error> {
    let rows = sqlx::query_as!(
        Row,
        "update orders.claims set held_until = now() + $1 * interval '1 second'
         where order_id in (
             select order_id from orders.claims where held_until < now()
             order by held_until limit $2 for update skip locked)
         returning order_id, n, kind, plan, idempotency_scope",
        HELD.as_secs_f64(),
        limit,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(Claim::from).collect())
}
