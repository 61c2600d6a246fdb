//! How long no event of an order is acknowledged.

use std::time::{Duration, Instant};

use sqlx::PgConnection;
use tokio::{sync::oneshot, task::JoinHandle, time::interval};

const POLL_INTERVAL: Duration = Duration::from_millis(25);
/// The events that were ever written, and those that are not acknowledged.
const EVENTS: &str = "select coalesce(pg_sequence_last_value(
        pg_get_serial_sequence('orders.outbox', 'position')::regclass), 0),
    (select coalesce(sum(last_position - first_position + 1), 0)::bigint
     from orders.outbox_pending)";

/// A task that looks at the outbox of orders-svc again and again.
pub struct Publishing {
    task: JoinHandle<anyhow::Result<Duration>>,
    stop: oneshot::Sender<()>,
}

impl Publishing {
    /// Starts it.
    pub fn watch(conn: PgConnection) -> Self {
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(longest_pause(conn, stopped));
        Self { task, stop }
    }

    /// Stops it, and returns the longest time in which there were events and none was acknowledged.
    pub async fn longest_pause(self) -> anyhow::Result<Duration> {
        let _ = self.stop.send(());
        self.task.await?
    }
}

async fn longest_pause(
    mut conn: PgConnection,
    mut stop: oneshot::Receiver<()>,
) -> anyhow::Result<Duration> {
    let mut polls = interval(POLL_INTERVAL);
    let (mut longest, mut published) = (Duration::ZERO, 0);
    let mut since = Instant::now();
    loop {
        tokio::select! {
            _ = &mut stop => return Ok(longest),
            _ = polls.tick() => {}
        }
        let (written, pending): (i64, i64) = sqlx::query_as(EVENTS).fetch_one(&mut conn).await?;
        if pending > 0 {
            longest = longest.max(since.elapsed());
        }
        if pending == 0 || written - pending > published {
            (published, since) = (written - pending, Instant::now());
        }
    }
}
