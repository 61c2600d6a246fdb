//! Whether the worker makes progress.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::time::Instant;

/// A batch takes less, even if the database is unavailable.
const MAX_BATCH_TIME: Duration = Duration::from_secs(15);

/// The start of the batch that the worker is at, if any. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct Heartbeat(Arc<Mutex<Option<Instant>>>);

impl Heartbeat {
    /// Records that a batch starts.
    pub(super) fn start(&self) {
        self.set(Some(Instant::now()));
    }

    /// Records that the batch has ended.
    pub(super) fn end(&self) {
        self.set(None);
    }

    fn set(&self, started: Option<Instant>) {
        if let Ok(mut current) = self.0.lock() {
            *current = started;
        }
    }

    /// Fails if the worker has been at one batch for too long.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        let started = self.0.lock().ok().and_then(|started| *started);
        let elapsed = started.map_or(Duration::ZERO, |started| started.elapsed());
        anyhow::ensure!(elapsed < MAX_BATCH_TIME, "at one batch for {elapsed:?}");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_batch_that_does_not_end_fails_the_check() {
        let heartbeat = Heartbeat::default();
        heartbeat.check().unwrap();
        heartbeat.start();
        tokio::time::advance(MAX_BATCH_TIME / 2).await;
        heartbeat.check().unwrap();
        tokio::time::advance(MAX_BATCH_TIME / 2).await;
        heartbeat.check().unwrap_err();
        heartbeat.end();
        heartbeat.check().unwrap();
    }
}
