//! Supervision of background tasks: relay, consumers, workers.
//!
//! A task that fails or panics is logged, counted and restarted with a backoff from 0.1 to 5 s; its
//! state is in the database, so a restart is safe. A task that returns `Ok` has ended. The process
//! goes on meanwhile.

use std::{future::Future, time::Duration};

use tokio::time::Instant;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{backoff::Backoff, telemetry};

const RESTART: Backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(5));
/// The backoff of a task that ran this long is reset.
const HEALTHY: Duration = Duration::from_secs(30);

/// Runs background tasks until the process stops.
///
/// ```no_run
/// # use platform::{grpc::server::Server, lifecycle::Supervisor, messaging::relay, pg::Schema};
/// # async fn serve(
/// #     server: Server, pool: sqlx::PgPool, js: async_nats::jetstream::Context,
/// #     stop: tokio_util::sync::CancellationToken) -> anyhow::Result<()> {
/// # const SCHEMA: Schema = Schema::new("orders");
/// let tasks = Supervisor::new(stop.clone());
/// tasks.spawn("outbox-relay", move |stop| {
///     let relay = relay::run(pool.clone(), SCHEMA, js.clone(), 1, stop);
///     async move { relay.await; Ok(()) }
/// });
/// server.serve(stop).await?;
/// tasks.finish().await;
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Supervisor {
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Supervisor {
    /// Creates a supervisor whose tasks end when `stop` is cancelled.
    pub fn new(stop: CancellationToken) -> Self {
        Self {
            tasks: TaskTracker::new(),
            stop,
        }
    }

    /// Starts a task. It must end soon after its token is cancelled.
    pub fn spawn<F, Fut>(&self, name: impl Into<String>, task: F)
    where
        F: Fn(CancellationToken) -> Fut + Send + 'static,
        Fut: Future<Output = anyhow::Result<()>> + Send + 'static,
    {
        self.tasks
            .spawn(keep_running(name.into(), task, self.stop.clone()));
    }

    /// Waits for all tasks to end, which they do after the token is cancelled.
    pub async fn finish(self) {
        self.tasks.close();
        self.tasks.wait().await;
    }
}

async fn keep_running<F, Fut>(name: String, task: F, stop: CancellationToken)
where
    F: Fn(CancellationToken) -> Fut,
    Fut: Future<Output = anyhow::Result<()>> + Send + 'static,
{
    let mut restart = RESTART;
    loop {
        let started = Instant::now();
        // A task of its own, which contains panics.
        let fault = match tokio::spawn(task(stop.clone())).await {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error,
            Err(panic) => panic.into(),
        };
        if stop.is_cancelled() {
            let error = telemetry::chain(fault.as_ref());
            tracing::debug!(task = name, error, "supervisor: task failed while stopping");
            return;
        }
        if started.elapsed() >= HEALTHY {
            restart.reset();
        }
        let error = telemetry::chain(fault.as_ref());
        let delay = restart.next_delay();
        tracing::error!(
            task = name,
            error,
            ?delay,
            "supervisor: task failed, restarting"
        );
        metrics::counter!("task_restarts_total", "task" => name.clone()).increment(1);
        if stop
            .run_until_cancelled(tokio::time::sleep(delay))
            .await
            .is_none()
        {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn tasks_are_restarted_after_errors_and_panics_until_they_end() {
        let runs = Arc::new(AtomicUsize::new(0));
        let supervisor = Supervisor::new(CancellationToken::new());
        let counter = Arc::clone(&runs);
        supervisor.spawn("unstable", move |_| {
            let nth = counter.fetch_add(1, Ordering::SeqCst);
            async move {
                match nth {
                    0 => anyhow::bail!("an error"),
                    1 => panic!("a panic"),
                    _ => Ok(()),
                }
            }
        });
        supervisor.finish().await;
        assert_eq!(runs.load(Ordering::SeqCst), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn tasks_are_not_restarted_while_stopping() {
        let stop = CancellationToken::new();
        let supervisor = Supervisor::new(stop.clone());
        supervisor.spawn("failing", |_| async { anyhow::bail!("always") });
        supervisor.spawn("obedient", |stop| async move {
            stop.cancelled().await;
            Ok(())
        });
        tokio::time::sleep(Duration::from_mins(1)).await;
        stop.cancel();
        supervisor.finish().await;
    }
}
