//! Checks the ledger against the rules that follow from its movements and transactions, and reports
//! violations: `wallet-svc verify`, and a background task.
//!
//! A pass goes through all rows in slices by key. Each slice is one short statement on one snapshot, so
//! a pass keeps no old row versions alive, and takes a core for some milliseconds only. Rows that are
//! written while it runs are checked in this pass or in the next.

mod progress;
mod slice;
pub mod task;

use std::time::Duration;

use platform::{backoff::Backoff, pg::is_transient};
use sqlx::PgPool;
use tokio::time::sleep;

use self::{progress::Position, slice::check_slice};

/// A broken rule of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The rule, one of `checks/`.
    pub rule: String,
    /// The rows concerned.
    pub place: String,
}

/// Rows of a slice.
const SLICE_ROWS: i64 = 5_000;
/// How often in a row `wallet-svc verify` repeats a slice that fails with a transient error.
const MAX_RETRIES: u32 = 10;

/// Returns the violations of a pass without pauses.
pub async fn find_violations(pool: &PgPool) -> Result<Vec<Violation>, sqlx::Error> {
    find_violations_by(pool, SLICE_ROWS).await
}

/// Returns the violations of a pass without pauses, with slices of this many rows.
pub async fn find_violations_by(pool: &PgPool, rows: i64) -> Result<Vec<Violation>, sqlx::Error> {
    let mut found = Vec::new();
    let mut position = Some(Position::start());
    while let Some(current) = position {
        let slice = check_slice(pool, &current, rows).await?;
        found.extend(slice.violations);
        position = slice.next;
    }
    Ok(found)
}

/// Prints the violations, and fails if there are any. Pauses after each slice for as long as it took.
pub async fn verify(pool: PgPool) -> anyhow::Result<()> {
    let mut count = 0;
    let mut position = Some(Position::start());
    while let Some(current) = position {
        let slice = retry_slice(&pool, &current).await?;
        for Violation { rule, place } in &slice.violations {
            println!("{rule}: {place}");
        }
        count += slice.violations.len();
        position = slice.next;
        sleep(slice.elapsed).await;
    }
    anyhow::ensure!(count == 0, "{count} violations");
    println!("the ledger is consistent");
    Ok(())
}

/// Checks a slice, again after transient errors: what was checked before it need not be checked again.
async fn retry_slice(pool: &PgPool, position: &Position) -> Result<slice::Slice, sqlx::Error> {
    let mut pauses = Backoff::new(Duration::from_millis(100), Duration::from_secs(5));
    let mut retries = 0;
    loop {
        match check_slice(pool, position, SLICE_ROWS).await {
            Err(error) if is_transient(&error) && retries < MAX_RETRIES => {
                tracing::warn!(%error, "verifier: slice failed, retrying");
                retries += 1;
                sleep(pauses.next_delay()).await;
            }
            result => return result,
        }
    }
}
