//! The relay: publishes committed outbox rows in order, one relay a schema at a time.
//!
//! It holds no lock or transaction while it publishes, and goes by `outbox_pending`: a cursor only says
//! where most looks begin, because sequences commit out of order. While NATS is away it keeps trying.

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

/// How far behind what is published a look begins. Rows further back commit late, and are found by a
/// look from the start; which can't be the rule, because it reads again what is published until no
/// transaction of the database is older than that.
const LATE: i64 = 1_024;
/// Between looks from the start.
const FROM_THE_START: Duration = Duration::from_secs(2);

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
    /// The highest position that is published.
    published: i64,
    /// When the next look begins at the start.
    from_the_start_at: Instant,
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
            published: 0,
            from_the_start_at: Instant::now(),
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
        let rows = self.unpublished().await?;
        if rows.is_empty() {
            return Ok(Pass::Idle);
        }
        let full = rows.len() == usize::from(BATCH);
        let published = publish::in_order(&self.js, self.schema, rows, None).await;
        // A crash or an error right here means that the batch is published again.
        failpoint::hit("outbox.published");
        if failpoint::fails("outbox.published") {
            return Err("failpoint outbox.published".into());
        }
        self.mark(&published.positions).await?;
        match published.error {
            None if full => Ok(Pass::Full),
            None => Ok(Pass::Published),
            Some(error) => {
                // Perhaps because the stream is gone.
                self.stream_is_there = false;
                // What is held back is never left behind, so that nothing overtakes it.
                self.from_the_start_at = Instant::now();
                Err(error)
            }
        }
    }

    async fn unpublished(&mut self) -> Result<Vec<Row>, sqlx::Error> {
        let mut after = self.published - LATE;
        let now = Instant::now();
        if now >= self.from_the_start_at {
            self.from_the_start_at = now + FROM_THE_START;
            after = 0;
        }
        let sql = format!(
            "select {} from :schema.outbox
             where position = any (array(
                 select position from :schema.outbox_pending
                 where position > $1 order by position limit $2))
             order by position",
            Row::COLUMNS
        );
        // Planned anew each time: a plan that was made while the table was small would go on to read
        // all of it, and compare each row with each position.
        sqlx::query_as(self.schema.sql(&sql))
            .persistent(false)
            .bind(after)
            .bind(i64::from(BATCH))
            .fetch_all(&self.pool)
            .await
    }

    /// Takes rows off the pending ones, without waiting for the disk: where that is lost, they are
    /// published again, as after any crash.
    async fn mark(&mut self, published: &[i64]) -> Result<(), sqlx::Error> {
        let Some(&last) = published.iter().max() else {
            return Ok(());
        };
        let sql = self.schema.sql(
            "delete from :schema.outbox_pending
             using set_config('synchronous_commit', 'off', true)
             where position = any($1)",
        );
        let mark = sqlx::query(sql).persistent(false).bind(published);
        mark.execute(&self.pool).await?;
        self.published = self.published.max(last);
        metrics::counter!("outbox_published_total").increment(published.len() as u64);
        Ok(())
    }
}
