//! Verifies the ledger continuously, on one replica at a time; violations are logged and counted.

use std::time::Duration;

use platform::messaging::Lease;
use sqlx::PgPool;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::{
    SLICE_ROWS, Violation,
    progress::Progress,
    slice::{Slice, check_slice},
};
use crate::SCHEMA;

/// The pause between two passes, and after an error.
const PASS_INTERVAL: Duration = Duration::from_mins(1);
/// The pause after a slice is this many times as long as the slice: a twentieth of a core is used.
const PAUSE_FACTOR: u32 = 19;
/// The longest pause after a slice: shorter than the lease.
const MAX_PAUSE: Duration = Duration::from_secs(2);

/// Verifies until stopped.
pub async fn run(pool: PgPool, stop: CancellationToken) {
    run_with(pool, PASS_INTERVAL, SLICE_ROWS, stop).await;
}

/// Verifies until stopped, with another pause between passes and other slices.
pub async fn run_with(pool: PgPool, interval: Duration, rows: i64, stop: CancellationToken) {
    let mut lease = Lease::new(pool.clone(), SCHEMA, "ledger-verifier");
    let mut pause = interval;
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            () = sleep(pause) => {}
        }
        pause = match verify_slice(&pool, &mut lease, rows).await {
            Ok(Some(elapsed)) => (elapsed * PAUSE_FACTOR).min(MAX_PAUSE),
            Ok(None) => interval,
            Err(error) => {
                tracing::warn!(%error, "verifier: slice failed, retrying");
                interval
            }
        };
    }
    if let Err(error) = lease.release().await {
        tracing::debug!(%error, "verifier: release of the lease failed, it will expire");
    }
}

/// Verifies the next slice. Returns how long it took; nothing at the end of a pass, and while another
/// replica verifies.
async fn verify_slice(
    pool: &PgPool,
    lease: &mut Lease,
    rows: i64,
) -> Result<Option<Duration>, sqlx::Error> {
    if !lease.hold().await? {
        return Ok(None);
    }
    let mut progress = Progress::open(pool).await?;
    let Slice {
        violations,
        next,
        elapsed,
    } = check_slice(pool, &progress.position, rows).await?;
    for Violation { rule, place } in &violations {
        tracing::error!(rule, place, "verifier: the ledger violates a rule");
    }
    progress.violations += i64::try_from(violations.len()).unwrap_or(i64::MAX);
    let Some(next) = next else {
        let took = Progress::end(pool).await?;
        record(&progress, took.unwrap_or_default());
        return Ok(None);
    };
    progress.position = next;
    progress.store(pool).await?;
    Ok(Some(elapsed))
}

/// Records the metrics of a pass that ended.
fn record(progress: &Progress, seconds: f64) {
    metrics::histogram!("wallet_verification_seconds").record(seconds);
    metrics::counter!("wallet_verifications_total").increment(1);
    let count = u32::try_from(progress.violations).unwrap_or(u32::MAX);
    metrics::gauge!("wallet_ledger_violations").set(f64::from(count));
}
