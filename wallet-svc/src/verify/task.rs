//! Verifies the ledger periodically, on one replica at a time; violations are logged and counted.

use std::time::Duration;

use platform::messaging::Lease;
use sqlx::PgPool;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::{Violation, find_violations};
use crate::SCHEMA;

/// The shortest pause between two verifications.
const MIN_INTERVAL: Duration = Duration::from_mins(1);
/// A pause is this many times as long as the verification before it: at most a twentieth of a core is
/// used, and most of the time no snapshot is held.
const PAUSE_FACTOR: u32 = 20;

/// Verifies until stopped.
pub async fn run(pool: PgPool, stop: CancellationToken) {
    run_with(pool, MIN_INTERVAL, stop).await;
}

/// Verifies until stopped, with another shortest pause.
pub async fn run_with(pool: PgPool, min_interval: Duration, stop: CancellationToken) {
    let mut lease = Lease::new(pool.clone(), SCHEMA, "ledger-verifier");
    let mut pause = min_interval;
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            () = sleep(pause) => {}
        }
        let started = Instant::now();
        match verify(&pool, &mut lease).await {
            Ok(()) => pause = min_interval.max(started.elapsed() * PAUSE_FACTOR),
            Err(error) => tracing::warn!(%error, "verifier: verification failed, retrying"),
        }
    }
    if let Err(error) = lease.release().await {
        tracing::debug!(%error, "verifier: release of the lease failed, it will expire");
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
        tracing::error!(rule, place, "verifier: the ledger violates a rule");
    }
    Ok(())
}
