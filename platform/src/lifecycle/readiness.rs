//! Readiness of a process: named checks that run every second, and at first more often: processes that wait
//! for each other start without a second's pause each.

use std::{
    future::Future,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::future::{BoxFuture, FutureExt as _, join_all};
use serde::Serialize;
use tokio::{sync::watch, time::sleep};
use tokio_util::sync::CancellationToken;

use crate::{backoff::Backoff, telemetry};

const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Before the checks have passed once.
const STARTING: Backoff = Backoff::new(Duration::from_millis(100), CHECK_INTERVAL);
const CHECK_TIMEOUT: Duration = Duration::from_secs(2);

/// The registry of checks. Cloning is cheap and shares it. A process is not ready before
/// [`Readiness::watch`] runs, nor after it stops.
#[derive(Clone, Default)]
pub struct Readiness(Arc<Inner>);

#[derive(Default)]
struct Inner {
    checks: Mutex<Vec<Check>>,
    ready: watch::Sender<bool>,
    last: Mutex<Report>,
    /// Cancelled when the process is told to stop.
    draining: CancellationToken,
}

#[derive(Clone)]
struct Check {
    name: &'static str,
    required: bool,
    run: Arc<dyn Fn() -> BoxFuture<'static, anyhow::Result<()>> + Send + Sync>,
}

/// The last results of all checks, as in `/readyz`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Whether every required check passes.
    pub ready: bool,
    /// The checks in the order in which they were added.
    pub checks: Vec<CheckReport>,
}

/// The last result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    /// Name, such as `postgres`.
    pub name: &'static str,
    /// Whether the process is not ready while it fails.
    pub required: bool,
    /// Whether it passed.
    pub ok: bool,
}

impl Readiness {
    /// Adds a check; the process is not ready while it fails.
    pub fn require<F, Fut>(&self, name: &'static str, check: F)
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = anyhow::Result<()>> + Send + 'static,
    {
        self.add(name, true, check);
    }

    /// Adds a check that is only reported; the process stays ready while it fails.
    pub fn inform<F, Fut>(&self, name: &'static str, check: F)
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = anyhow::Result<()>> + Send + 'static,
    {
        self.add(name, false, check);
    }

    fn add<F, Fut>(&self, name: &'static str, required: bool, check: F)
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = anyhow::Result<()>> + Send + 'static,
    {
        let run = Arc::new(move || check().boxed());
        self.0.checks.lock().expect("no holder panics").push(Check {
            name,
            required,
            run,
        });
    }

    /// Subscribes to changes of readiness.
    pub fn subscribe(&self) -> watch::Receiver<bool> {
        self.0.ready.subscribe()
    }

    /// Returns the last results.
    pub fn report(&self) -> Report {
        self.0.last.lock().expect("no holder panics").clone()
    }

    /// Makes the process not ready for good, whatever its checks say.
    pub fn drain(&self) {
        self.0.draining.cancel();
        self.publish(self.report());
    }

    /// Returns a token that is cancelled by [`Readiness::drain`].
    pub fn draining(&self) -> CancellationToken {
        self.0.draining.clone()
    }

    /// Runs the checks until `stop`. A gRPC server does this itself; the gateway, which has none, runs it
    /// as a task.
    pub async fn watch(self, stop: CancellationToken) {
        let (mut starting, mut has_started) = (STARTING, false);
        while let Some(report) = stop.run_until_cancelled(self.check_all()).await {
            has_started |= report.ready;
            self.publish(report);
            let interval = if has_started {
                CHECK_INTERVAL
            } else {
                starting.next_delay()
            };
            if stop.run_until_cancelled(sleep(interval)).await.is_none() {
                break;
            }
        }
        let checks = self.report().checks;
        self.publish(Report {
            ready: false,
            checks,
        });
    }

    async fn check_all(&self) -> Report {
        let checks = self.0.checks.lock().expect("no holder panics").clone();
        let results = join_all(checks.iter().map(|check| async {
            let outcome = tokio::time::timeout(CHECK_TIMEOUT, (check.run)()).await;
            outcome.unwrap_or_else(|_| Err(anyhow::anyhow!("timed out")))
        }));
        let previous = self.report().checks;
        let reports: Vec<_> = checks
            .iter()
            .zip(results.await)
            .map(|(check, result)| {
                let previous = previous.iter().find(|report| report.name == check.name);
                check.report(previous.map(|report| report.ok), &result)
            })
            .collect();
        Report {
            ready: reports.iter().all(|check| check.ok || !check.required),
            checks: reports,
        }
    }

    fn publish(&self, mut report: Report) {
        report.ready &= !self.0.draining.is_cancelled();
        let ready = report.ready;
        *self.0.last.lock().expect("no holder panics") = report;
        self.0.ready.send_if_modified(|was| {
            let changed = *was != ready;
            *was = ready;
            changed
        });
    }
}

impl Check {
    /// Returns the result, and logs it if it has changed.
    fn report(&self, was_ok: Option<bool>, result: &anyhow::Result<()>) -> CheckReport {
        let check = self.name;
        match (result, was_ok) {
            (Ok(()), Some(false)) => tracing::info!(check, "readiness: check passes again"),
            (Err(error), None | Some(true)) => {
                let error = telemetry::chain(error.as_ref());
                tracing::warn!(check, error, "readiness: check failed, retrying");
            }
            _ => {}
        }
        CheckReport {
            name: check,
            required: self.required,
            ok: result.is_ok(),
        }
    }
}

impl std::fmt::Debug for Readiness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Readiness").field(&self.report()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn readiness_follows_required_checks_and_ends_with_the_process() {
        let readiness = Readiness::default();
        let up = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&up);
        readiness.require("postgres", move || {
            let up = flag.load(Ordering::SeqCst);
            async move { up.then_some(()).ok_or_else(|| anyhow::anyhow!("refused")) }
        });
        readiness.inform("nats", || async { anyhow::bail!("refused") });
        readiness.require("slow", || async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            Ok(())
        });

        let mut ready = readiness.subscribe();
        let stop = CancellationToken::new();
        let watching = tokio::spawn(readiness.clone().watch(stop.clone()));
        assert!(!*ready.borrow_and_update());
        up.store(true, Ordering::SeqCst);
        ready.wait_for(|ready| *ready).await.unwrap();
        let ok: Vec<_> = readiness
            .report()
            .checks
            .iter()
            .map(|check| check.ok)
            .collect();
        assert_eq!(ok, [true, false, true]);

        up.store(false, Ordering::SeqCst);
        ready.wait_for(|ready| !ready).await.unwrap();
        up.store(true, Ordering::SeqCst);
        ready.wait_for(|ready| *ready).await.unwrap();
        stop.cancel();
        watching.await.unwrap();
        assert!(!*ready.borrow());
    }

    #[tokio::test(start_paused = true)]
    async fn checks_are_frequent_at_first_and_then_once_a_second() {
        let readiness = Readiness::default();
        let started = tokio::time::Instant::now();
        let runs = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&runs);
        readiness.require("postgres", move || {
            let mut runs = seen.lock().unwrap();
            runs.push(started.elapsed().as_millis());
            let passes = runs.len() > 5;
            async move {
                passes
                    .then_some(())
                    .ok_or_else(|| anyhow::anyhow!("refused"))
            }
        });
        let stop = CancellationToken::new();
        let watching = tokio::spawn(readiness.watch(stop.clone()));
        sleep(Duration::from_millis(4_600)).await;
        stop.cancel();
        watching.await.unwrap();
        assert_eq!(
            *runs.lock().unwrap(),
            [0, 100, 300, 700, 1_500, 2_500, 3_500, 4_500]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_process_that_drains_is_not_ready_again() {
        let readiness = Readiness::default();
        let mut ready = readiness.subscribe();
        tokio::spawn(readiness.clone().watch(CancellationToken::new()));
        ready.wait_for(|ready| *ready).await.unwrap();
        readiness.drain();
        assert!(!*ready.borrow_and_update(), "at once");
        assert!(!readiness.report().ready);
        sleep(10 * CHECK_INTERVAL).await;
        assert!(!ready.has_changed().unwrap() && !readiness.report().ready);
    }

    #[tokio::test(start_paused = true)]
    async fn a_check_that_hangs_times_out() {
        let readiness = Readiness::default();
        readiness.require("hung", std::future::pending);
        assert!(!readiness.check_all().await.ready);
    }
}
