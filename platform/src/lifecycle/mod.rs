//! The life cycle of a process: readiness, background tasks, probes and signals.

mod probes;
mod readiness;
mod supervisor;

use anyhow::Context as _;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

pub use probes::Metrics;
pub use readiness::{CheckReport, Readiness, Report};
pub use supervisor::Supervisor;

pub(crate) use probes::serve as serve_probes;

/// Returns a token that is cancelled by SIGTERM or SIGINT. A second signal has no effect: the drain
/// has a time limit.
pub(crate) fn stop_on_signal() -> anyhow::Result<CancellationToken> {
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen for SIGINT")?;
    let stop = CancellationToken::new();
    let token = stop.clone();
    tokio::spawn(async move {
        let name = tokio::select! {
            _ = terminate.recv() => "SIGTERM",
            _ = interrupt.recv() => "SIGINT",
        };
        tracing::info!(signal = name, "process: signal received, stopping");
        token.cancel();
    });
    Ok(stop)
}
