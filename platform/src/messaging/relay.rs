//! The relay: publishes committed outbox rows in order, one relay a schema at a time.
//!
//! It holds no lock or transaction while it publishes, and goes by `outbox_pending`, not by a cursor,
//! because sequences commit out of order. While NATS is away it keeps trying.

use std::time::Duration;

use async_nats::jetstream::Context;
use sqlx::PgPool;
use tokio::{
    sync::watch,
    time::{Instant, sleep, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::{
    Lease, housekeeping,
    jetstream::{ensure_stream, is_connected},
    outbox,
    pending::Pending,
    publish::{self, Row},
};
use crate::{failpoint, pg::Schema};

/// JetStream stores up to 1 000 together.
const BATCH: u16 = 1_000;
/// Between the starts of two batches: each costs JetStream the same few writes to disk, however
/// full, and commits of the services wait behind them.
const PACE: Duration = Duration::from_millis(100);
/// The first look after an append, which is announced before its commit; each next look waits twice
/// as long.
const SOON: Duration = Duration::from_millis(4);
/// Between looks while nothing is announced: finds rows of other processes and late commits.
const IDLE: Duration = Duration::from_millis(500);

/// Runs until the token is cancelled; then publishes what is there and gives up its lease.
pub async fn run(pool: PgPool, schema: Schema, js: Context, token: CancellationToken) {
    let relay = Relay::new(pool.clone(), schema, js);
    tokio::join!(
        relay.work(outbox::appended(), &token),
        housekeeping::run(&pool, schema, &token)
    );
}

struct Relay {
    pool: PgPool,
    schema: Schema,
    js: Context,
    lease: Lease,
    stream_is_there: bool,
    failing: bool,
}

/// What a look at the outbox came to.
enum Pass {
    /// Nothing to do, or somebody else does it.
    Idle,
    /// All that was there is published; more may have come.
    Published,
    /// As much as fits is published; more waits.
    Full,
    /// NATS or the database is away.
    Failed,
}

impl Relay {
    fn new(pool: PgPool, schema: Schema, js: Context) -> Self {
        Self {
            lease: Lease::new(pool.clone(), schema, "outbox-relay"),
            pool,
            schema,
            js,
            stream_is_there: false,
            failing: false,
        }
    }

    async fn work(mut self, mut appended: watch::Receiver<()>, token: &CancellationToken) {
        let mut delay = SOON;
        while !token.is_cancelled() {
            let next = Instant::now() + PACE;
            match self.pass().await {
                Pass::Full => continue,
                Pass::Published => {
                    delay = SOON;
                    tokio::select! {
                        () = token.cancelled() => break,
                        () = sleep_until(next) => continue,
                    }
                }
                Pass::Idle => {}
                Pass::Failed => delay = delay.max(IDLE / 4),
            }
            tokio::select! {
                () = token.cancelled() => break,
                () = sleep(delay) => delay = (delay * 2).min(IDLE),
                _ = appended.changed(), if delay > SOON && !self.failing => delay = SOON,
            }
        }
        self.pass().await;
        if let Err(error) = self.lease.release().await {
            tracing::debug!(%error, "the relay's lease expires by itself");
        }
    }

    async fn pass(&mut self) -> Pass {
        match self.publish_batch().await {
            Ok(pass) => {
                if std::mem::take(&mut self.failing) {
                    tracing::info!("the outbox is being published again");
                }
                pass
            }
            Err(error) => {
                metrics::counter!("outbox_relay_failures_total").increment(1);
                if !std::mem::replace(&mut self.failing, true) {
                    tracing::warn!(%error, "the outbox waits");
                }
                Pass::Failed
            }
        }
    }

    async fn publish_batch(&mut self) -> Result<Pass, async_nats::Error> {
        if !self.lease.hold().await? {
            return Ok(Pass::Idle);
        }
        if !is_connected(&self.js) {
            return Err("not connected to NATS".into());
        }
        if !self.stream_is_there {
            ensure_stream(&self.js, self.schema).await?;
            self.stream_is_there = true;
        }
        let pending = Pending::read(&self.pool, self.schema, BATCH).await?;
        if pending.positions.is_empty() {
            return Ok(Pass::Idle);
        }
        let full = pending.positions.len() == usize::from(BATCH);
        let rows = self.rows(&pending.positions).await?;
        let published = publish::in_order(&self.js, self.schema, rows, None).await;
        // A crash or an error right here means that the batch is published again.
        failpoint::hit("outbox.published");
        if failpoint::fails("outbox.published") {
            return Err("failpoint outbox.published".into());
        }
        if !published.positions.is_empty() {
            pending
                .mark(&self.pool, self.schema, &published.positions)
                .await?;
            metrics::counter!("outbox_published_total").increment(published.positions.len() as u64);
        }
        match published.error {
            None if full => Ok(Pass::Full),
            None => Ok(Pass::Published),
            Some(error) => {
                // Perhaps because the stream is gone.
                self.stream_is_there = false;
                Err(error)
            }
        }
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
