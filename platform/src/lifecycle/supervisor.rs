//! Background tasks (relay, consumers, recovery workers) that must not die unnoticed.
//!
//! A task that fails or panics is logged, counted and started again after a pause that grows from
//! 0.1 to 5 s; its state is in the database, so starting over is safe. One that returns `Ok` has
//! done its work. The process goes on meanwhile: the other tasks and its requests are not at fault.

use std::{future::Future, time::Duration};

use tokio::time::Instant;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::telemetry;

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// A task that ran this long was healthy: its next pause is short again.
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
///     let relay = relay::run(pool.clone(), SCHEMA, js.clone(), stop);
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
    /// A supervisor whose tasks end when `stop` is cancelled.
    pub fn new(stop: CancellationToken) -> Self {
        Self {
            tasks: TaskTracker::new(),
            stop,
        }
    }

    /// Starts a task. It must end soon after the token it is given is cancelled.
    pub fn spawn<F, Fut>(&self, name: impl Into<String>, task: F)
    where
        F: Fn(CancellationToken) -> Fut + Send + 'static,
        Fut: Future<Output = anyhow::Result<()>> + Send + 'static,
    {
        self.tasks
            .spawn(keep_running(name.into(), task, self.stop.clone()));
    }

    /// Waits for every task to end; they do after the token is cancelled.
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
    let mut pause = FIRST_PAUSE;
    loop {
        let started = Instant::now();
        // A task of its own, so that a panic ends there.
        let fault = match tokio::spawn(task(stop.clone())).await {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error,
            Err(panic) => panic.into(),
        };
        if stop.is_cancelled() {
            tracing::debug!(
                task = name,
                error = telemetry::chain(fault.as_ref()),
                "failed while stopping"
            );
            return;
        }
        if started.elapsed() >= HEALTHY {
            pause = FIRST_PAUSE;
        }
        let error = telemetry::chain(fault.as_ref());
        tracing::error!(error, ?pause, "task {name} failed and starts again");
        metrics::counter!("task_restarts_total", "task" => name.clone()).increment(1);
        if stop
            .run_until_cancelled(tokio::time::sleep(pause))
            .await
            .is_none()
        {
            return;
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
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
    async fn tasks_start_again_after_errors_and_panics_until_they_are_done() {
        let runs = Arc::new(AtomicUsize::new(0));
        let supervisor = Supervisor::new(CancellationToken::new());
        let counter = Arc::clone(&runs);
        supervisor.spawn("moody", move |_| {
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
    async fn a_stopping_process_starts_nothing_again() {
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
