//! Recomputes the ledger from its movements and transactions, and reports violations:
//! `wallet-svc verify`.

pub mod task;

use platform::pg;
use sqlx::PgPool;

/// A broken rule of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct Violation {
    /// The rule, one of `checks.sql`.
    pub rule: String,
    /// The rows concerned.
    pub place: String,
}

/// Returns the violations, computed from one snapshot and on one core, which is safe under load.
pub async fn find_violations(pool: &PgPool) -> Result<Vec<Violation>, sqlx::Error> {
    let mut tx = pg::tx(pool).await?;
    sqlx::raw_sql(
        "set transaction isolation level repeatable read, read only;
         set local statement_timeout = 0;
         set local work_mem = '64MB';
         set local max_parallel_workers_per_gather = 0",
    )
    .execute(&mut *tx)
    .await?;
    let found = sqlx::query_as(include_str!("checks.sql"))
        .fetch_all(&mut *tx)
        .await?;
    tx.rollback().await?;
    Ok(found)
}

/// Prints the violations, and fails if there are any.
pub async fn verify(pool: PgPool) -> anyhow::Result<()> {
    let violations = find_violations(&pool).await?;
    for Violation { rule, place } in &violations {
        println!("{rule}: {place}");
    }
    anyhow::ensure!(violations.is_empty(), "{} violations", violations.len());
    println!("the ledger is consistent");
    Ok(())
}
