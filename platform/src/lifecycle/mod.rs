//! The life cycle of a process: readiness, background tasks, probes and signals.

mod probes;
mod readiness;
mod supervisor;

use std::time::Duration;

use anyhow::Context as _;
use tokio::{
    signal::unix::{SignalKind, signal},
    time::sleep,
};
use tokio_util::sync::CancellationToken;

pub use probes::Metrics;
pub use readiness::{CheckReport, Readiness, Report};
pub use supervisor::Supervisor;

pub(crate) use probes::serve as serve_probes;

/// Returns a token that is cancelled this long after SIGTERM or SIGINT, as [`drain`] says. A second signal has
/// no effect: the drain has a time limit.
pub(crate) fn stop_on_signal(
    readiness: &Readiness,
    delay: Duration,
) -> anyhow::Result<CancellationToken> {
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen for SIGINT")?;
    let stop = CancellationToken::new();
    let (readiness, token) = (readiness.clone(), stop.clone());
    tokio::spawn(async move {
        let name = tokio::select! {
            _ = terminate.recv() => "SIGTERM",
            _ = interrupt.recv() => "SIGINT",
        };
        tracing::info!(signal = name, ?delay, "process: signal received, stopping");
        drain(&readiness, delay, &token).await;
    });
    Ok(stop)
}

/// Makes the process not ready, and cancels the token after the delay: in between, proxies and clients leave
/// it, and what they send until then is answered.
async fn drain(readiness: &Readiness, delay: Duration, stop: &CancellationToken) {
    readiness.drain();
    sleep(delay).await;
    stop.cancel();
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_process_serves_on_for_a_while_after_it_is_not_ready() {
        let (readiness, stop) = (Readiness::default(), CancellationToken::new());
        let delay = Duration::from_secs(8);
        let (started, draining) = (Instant::now(), readiness.draining());
        tokio::join!(drain(&readiness, delay, &stop), async {
            draining.cancelled().await;
            assert_eq!(started.elapsed(), Duration::ZERO);
            assert!(!stop.is_cancelled());
            stop.cancelled().await;
            assert_eq!(started.elapsed(), delay);
        });
    }
}
