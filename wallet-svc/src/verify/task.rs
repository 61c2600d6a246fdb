//! Verifies the ledger again and again, on one replica at a time, and shows what it finds.

use std::time::Duration;

use platform::messaging::Lease;
use sqlx::PgPool;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::{Violation, find_violations};
use crate::SCHEMA;

/// The shortest rest.
const REST: Duration = Duration::from_mins(1);
/// A rest is so many times as long as the work before it: at most a twentieth of a core is used,
/// and the snapshot that a verification holds is gone most of the time.
const REST_TO_WORK: u32 = 20;

/// Verifies until stopped.
pub async fn run(pool: PgPool, stop: CancellationToken) {
    run_with(pool, REST, stop).await;
}

/// Verifies until stopped, with another shortest rest.
pub async fn run_with(pool: PgPool, shortest: Duration, stop: CancellationToken) {
    let mut lease = Lease::new(pool.clone(), SCHEMA, "ledger-verifier");
    let mut rest = shortest;
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            () = sleep(rest) => {}
        }
        let started = Instant::now();
        match verify(&pool, &mut lease).await {
            Ok(()) => rest = shortest.max(started.elapsed() * REST_TO_WORK),
            Err(error) => tracing::warn!(%error, "the ledger could not be verified"),
        }
    }
    if let Err(error) = lease.release().await {
        tracing::debug!(%error, "the verifier's lease runs out by itself");
    }
}

async fn verify(pool: &PgPool, lease: &mut Lease) -> Result<(), sqlx::Error> {
    if !lease.hold().await? {
        return Ok(());
    }
    let started = Instant::now();
    let violations = find_violations(pool).await?;
    metrics::histogram!("wallet_verification_seconds").record(started.elapsed().as_secs_f64());
    metrics::counter!("wallet_verifications_total").increment(1);
    let count = u32::try_from(violations.len()).unwrap_or(u32::MAX);
    metrics::gauge!("wallet_ledger_violations").set(f64::from(count));
    for Violation { rule, place } in violations {
        tracing::error!(rule, place, "the ledger does not agree with itself");
    }
    Ok(())
}
