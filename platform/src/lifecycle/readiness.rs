//! Whether a process can do its work now: named checks, asked every second.

use std::{
    future::Future,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::future::{BoxFuture, FutureExt as _, join_all};
use serde::Serialize;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::telemetry;

const EVERY: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(2);

/// The registry of checks. Cloning is cheap and shares it. Nothing is ready before
/// [`Readiness::watch`] runs, nor after it was stopped.
#[derive(Clone, Default)]
pub struct Readiness(Arc<Inner>);

#[derive(Default)]
struct Inner {
    checks: Mutex<Vec<Check>>,
    ready: watch::Sender<bool>,
    last: Mutex<Report>,
}

#[derive(Clone)]
struct Check {
    name: &'static str,
    required: bool,
    run: Arc<dyn Fn() -> BoxFuture<'static, anyhow::Result<()>> + Send + Sync>,
}

/// The last answers, as `/readyz` shows them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Whether every required check passes.
    pub ready: bool,
    /// In the order in which they were added.
    pub checks: Vec<CheckReport>,
}

/// The last answer of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    /// Such as `postgres`.
    pub name: &'static str,
    /// Whether the process is unready without it.
    pub required: bool,
    /// Whether it passed.
    pub ok: bool,
}

impl Readiness {
    /// The process is unready while this fails.
    pub fn require<F, Fut>(&self, name: &'static str, check: F)
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = anyhow::Result<()>> + Send + 'static,
    {
        self.add(name, true, check);
    }

    /// Shown, and no more: the process works without it for a while.
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

    /// Follows whether the process is ready.
    pub fn subscribe(&self) -> watch::Receiver<bool> {
        self.0.ready.subscribe()
    }

    /// The last answers.
    pub fn report(&self) -> Report {
        self.0.last.lock().expect("no holder panics").clone()
    }

    /// Asks every second until `stop`. A gRPC server does this by itself; the gateway, which has
    /// none, runs it as a task.
    pub async fn watch(self, stop: CancellationToken) {
        let mut ticks = tokio::time::interval(EVERY);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        while stop.run_until_cancelled(ticks.tick()).await.is_some() {
            let Some(report) = stop.run_until_cancelled(self.ask()).await else {
                break;
            };
            self.publish(report);
        }
        let checks = self.report().checks;
        self.publish(Report {
            ready: false,
            checks,
        });
    }

    async fn ask(&self) -> Report {
        let checks = self.0.checks.lock().expect("no holder panics").clone();
        let results = join_all(checks.iter().map(|check| async {
            let outcome = tokio::time::timeout(PATIENCE, (check.run)()).await;
            outcome.unwrap_or_else(|_| Err(anyhow::anyhow!("no answer")))
        }));
        let known = self.report().checks;
        let answers = checks.iter().zip(results.await).map(|(check, result)| {
            let was_ok = known
                .iter()
                .find(|old| old.name == check.name)
                .map(|old| old.ok);
            check.answer(was_ok, &result)
        });
        let checks: Vec<_> = answers.collect();
        Report {
            ready: checks.iter().all(|check| check.ok || !check.required),
            checks,
        }
    }

    fn publish(&self, report: Report) {
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
    /// Logs changes only.
    fn answer(&self, was_ok: Option<bool>, result: &anyhow::Result<()>) -> CheckReport {
        let check = self.name;
        match (result, was_ok) {
            (Ok(()), Some(false)) => tracing::info!("{check} is back"),
            (Err(error), None | Some(true)) => {
                let error = telemetry::chain(error.as_ref());
                tracing::warn!(error, "{check} is not there");
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
    async fn follows_its_required_checks_and_ends_with_the_process() {
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
    async fn a_check_that_hangs_fails() {
        let readiness = Readiness::default();
        readiness.require("hung", std::future::pending);
        assert!(!readiness.ask().await.ready);
    }
}
