//! Recomputes what the ledger keeps, and names what does not agree: `wallet-svc verify`.

pub mod task;

use platform::pg;
use sqlx::PgPool;

/// Something that must not be.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct Violation {
    /// The rule that does not hold.
    pub rule: String,
    /// Where it does not hold.
    pub place: String,
}

/// Everything that does not agree, from one snapshot and on one core, so that it may be asked under
/// load.
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

/// Prints what does not agree, and fails if there is anything.
pub async fn verify(pool: PgPool) -> anyhow::Result<()> {
    let violations = find_violations(&pool).await?;
    for Violation { rule, place } in &violations {
        println!("{rule}: {place}");
    }
    anyhow::ensure!(violations.is_empty(), "{} violations", violations.len());
    println!("the ledger agrees with itself");
    Ok(())
}
