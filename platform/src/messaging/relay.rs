//! The outbox relay: publishes committed events in order, one relay per schema at a time.
//!
//! It reads `outbox_pending` and keeps no cursor, because sequences commit out of order. It holds no
//! lock or transaction while it publishes. While NATS is unavailable it retries. An event that JetStream
//! refuses itself holds the later ones of its aggregate until it is parked in `dead_letters`.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use async_nats::jetstream::Context;
use sqlx::PgPool;
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

use super::{
    Lease, dead_letters, housekeeping,
    jetstream::{ensure_stream, is_connected},
    outbox,
    pending::Pending,
    publish::{self, Refused, Row},
};
use crate::{
    backoff::Backoff,
    failpoint,
    pg::{self, Schema},
};

/// Events per batch; JetStream stores up to 1 000 together.
const BATCH: u16 = 1_000;
/// Minimum time between the starts of two batches: each costs JetStream the same few writes to disk,
/// whatever its size, and commits of the services wait behind them.
const MIN_BATCH_INTERVAL: Duration = Duration::from_millis(100);
/// Delay of the first poll after an append, which is announced before its commit.
const FIRST_POLL_DELAY: Duration = Duration::from_millis(4);
/// Delay between polls without an append; finds events of other processes and late commits.
const MAX_POLL_DELAY: Duration = Duration::from_millis(500);
const FIRST_RETRY_DELAY: Duration = Duration::from_millis(125);

/// Runs until the token is cancelled; then publishes the committed events and releases its lease.
pub async fn run(
    pool: PgPool,
    schema: Schema,
    js: Context,
    stream_replicas: u8,
    token: CancellationToken,
) {
    let relay = Relay::new(pool.clone(), schema, js, stream_replicas);
    tokio::join!(
        relay.run(outbox::appended(), &token),
        housekeeping::run(&pool, schema, &token)
    );
}

struct Relay {
    pool: PgPool,
    schema: Schema,
    js: Context,
    stream_replicas: u8,
    lease: Lease,
    stream_exists: bool,
    failing: bool,
}

/// The result of a poll of the outbox.
enum PollOutcome {
    /// No events are pending, or another process has the lease.
    Idle,
    /// All pending events are published.
    Published,
    /// A full batch is published; more events are pending.
    Full,
    /// NATS or the database is unavailable.
    Failed,
}

impl Relay {
    fn new(pool: PgPool, schema: Schema, js: Context, stream_replicas: u8) -> Self {
        Self {
            lease: Lease::new(pool.clone(), schema, "outbox-relay"),
            pool,
            schema,
            js,
            stream_replicas,
            stream_exists: false,
            failing: false,
        }
    }

    async fn run(mut self, mut appended: watch::Receiver<()>, token: &CancellationToken) {
        let mut polls = Backoff::new(FIRST_POLL_DELAY, MAX_POLL_DELAY);
        let mut retries = Backoff::new(FIRST_RETRY_DELAY, MAX_POLL_DELAY);
        while !token.is_cancelled() {
            let started = Instant::now();
            let outcome = self.poll().await;
            if !self.failing {
                retries.reset();
            }
            let (delay, wakes) = match outcome {
                PollOutcome::Full => continue,
                PollOutcome::Published => {
                    polls.reset();
                    (MIN_BATCH_INTERVAL.saturating_sub(started.elapsed()), false)
                }
                // Not woken during the first delay: appends may come faster than they commit.
                PollOutcome::Idle => {
                    let wakes = !polls.is_initial();
                    (polls.next_delay(), wakes)
                }
                PollOutcome::Failed => (retries.next_delay(), false),
            };
            tokio::select! {
                () = token.cancelled() => break,
                () = sleep(delay) => {}
                _ = appended.changed(), if wakes => polls.reset(),
            }
        }
        self.poll().await;
        if let Err(error) = self.lease.release().await {
            tracing::debug!(%error, "outbox relay: lease not released, it expires");
        }
    }

    async fn poll(&mut self) -> PollOutcome {
        match self.publish_batch().await {
            Ok(outcome) => {
                if std::mem::take(&mut self.failing) {
                    tracing::info!("outbox relay: publishing again");
                }
                outcome
            }
            Err(error) => {
                metrics::counter!("outbox_relay_failures_total").increment(1);
                if !std::mem::replace(&mut self.failing, true) {
                    tracing::warn!(%error, "outbox relay: publish failed, retrying");
                }
                PollOutcome::Failed
            }
        }
    }

    async fn publish_batch(&mut self) -> Result<PollOutcome, async_nats::Error> {
        if !self.lease.hold().await? {
            return Ok(PollOutcome::Idle);
        }
        if !is_connected(&self.js) {
            return Err("not connected to NATS".into());
        }
        if !self.stream_exists {
            ensure_stream(&self.js, self.schema, self.stream_replicas).await?;
            self.stream_exists = true;
        }
        let pending = pg::bounded(Pending::read(&self.pool, self.schema, BATCH)).await?;
        if pending.positions.is_empty() {
            return Ok(PollOutcome::Idle);
        }
        let full = pending.positions.len() == usize::from(BATCH);
        let rows = pg::bounded(self.rows(&pending.positions)).await?;
        let mut done = without_rows(&pending.positions, &rows);
        let names = positions_by_event(&rows);
        let published = publish::in_order(&self.js, self.schema, rows, None).await;
        // After a crash or an error here the batch is published again.
        failpoint::hit("outbox.published");
        if failpoint::fails("outbox.published") {
            return Err("failpoint outbox.published".into());
        }
        done.extend(&published.positions);
        let (parked, refusal) = self.park(&published.refused).await?;
        done.extend(parked);
        if !done.is_empty() {
            let removed = pending.remove(&self.pool, self.schema, &done);
            pg::bounded(removed).await?;
            count(&published.positions, &names);
        }
        match published.error.or(refusal) {
            // Otherwise the same events would be read again at once.
            None if full && !done.is_empty() => Ok(PollOutcome::Full),
            None => Ok(PollOutcome::Published),
            Some(error) => {
                // The stream may have been deleted.
                self.stream_exists = false;
                Err(error)
            }
        }
    }

    /// Counts the refusals, and returns the positions of the events that were refused too often. They are
    /// parked, and the later events of their aggregates go on. An error is the reason of another one,
    /// which is tried again.
    async fn park(
        &self,
        refused: &[Refused],
    ) -> Result<(Vec<i64>, Option<async_nats::Error>), sqlx::Error> {
        let (mut parked, mut refusal) = (Vec::new(), None);
        for refused in refused {
            let recorded = dead_letters::record_refusal(&self.pool, self.schema, refused);
            let (Refused { row, reason }, event_id) = (refused, refused.row.id);
            if pg::bounded(recorded).await? {
                tracing::error!(%event_id, reason, "outbox relay: event is refused too often, parked");
                parked.push(row.position);
            } else {
                refusal = Some(format!("event {event_id} is refused: {reason}").into());
            }
        }
        Ok((parked, refusal))
    }

    async fn rows(&self, positions: &[i64]) -> Result<Vec<Row>, sqlx::Error> {
        let sql = format!(
            "select {} from :schema.outbox where position = any($1) order by position",
            Row::COLUMNS
        );
        sqlx::query_as(self.schema.sql(&sql))
            .persistent(false)
            .bind(positions)
            .fetch_all(&self.pool)
            .await
    }
}

/// Returns the positions that have no row in the outbox, as after a deletion by hand or a partial
/// restore. They can never be published, and must not keep the relay from what comes after them.
fn without_rows(positions: &[i64], rows: &[Row]) -> Vec<i64> {
    let found: HashSet<_> = rows.iter().map(|row| row.position).collect();
    let missing = positions
        .iter()
        .filter(|position| !found.contains(position));
    let missing: Vec<_> = missing.copied().collect();
    if let (Some(first), Some(last)) = (missing.first(), missing.last()) {
        let events = missing.len();
        tracing::error!(
            events,
            first,
            last,
            "outbox relay: pending events are not in the outbox, skipped"
        );
    }
    missing
}

/// Returns the positions of the events with each name.
fn positions_by_event(rows: &[Row]) -> HashMap<String, Vec<i64>> {
    let mut names: HashMap<String, Vec<i64>> = HashMap::new();
    for row in rows {
        if let Some(positions) = names.get_mut(row.event()) {
            positions.push(row.position);
        } else {
            names.insert(row.event().to_owned(), vec![row.position]);
        }
    }
    names
}

/// Counts the published events by their name, which is what happened in the shop.
fn count(published: &[i64], names: &HashMap<String, Vec<i64>>) {
    let published: HashSet<_> = published.iter().collect();
    for (event, positions) in names {
        let count = positions.iter().filter(|it| published.contains(it)).count();
        metrics::counter!("outbox_published_total", "event" => event.clone())
            .increment(count as u64);
    }
}
