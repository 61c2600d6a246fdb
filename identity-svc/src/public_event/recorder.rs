//! Records public events in the order of the feed, and queues them for webhooks, in the transaction of their
//! consumer; deletes old ones.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use platform::{clock::Clock, error::Failure, ids::Ids, messaging::Lease, pg, telemetry};
use sqlx::{PgConnection, PgPool};
use tokio::{
    sync::Notify,
    time::{MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

use super::{EventRow, event_types, repo};
use crate::{
    SCHEMA,
    webhook::delivery::{
        RETRY_FOR,
        repo::{self as deliveries, NewDelivery, Subscription},
    },
};

const PURGE_INTERVAL: Duration = Duration::from_mins(1);

/// Records public events. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Recorder {
    clock: Clock,
    ids: Ids,
    /// Wakes the worker that delivers.
    queued: Arc<Notify>,
    /// Whether there were enabled webhooks when events were recorded last.
    has_webhooks: Arc<AtomicBool>,
}

impl Recorder {
    /// Makes a recorder that notifies `queued` of events that are recorded.
    pub fn new(clock: Clock, ids: Ids, queued: Arc<Notify>) -> Self {
        Self {
            clock,
            ids,
            queued,
            has_webhooks: Arc::default(),
        }
    }

    /// Records the events of the rows that are not recorded yet, in this order. No other transaction records any
    /// until this one ends, which should be soon.
    pub async fn record_in_tx(
        &self,
        conn: &mut PgConnection,
        rows: &[EventRow],
    ) -> Result<(), Failure> {
        if rows.is_empty() {
            return Ok(());
        }
        let webhooks = deliveries::subscriptions_in_tx(conn).await?;
        let has_webhooks = !webhooks.is_empty();
        self.has_webhooks.store(has_webhooks, Ordering::Relaxed);
        let inserted = repo::insert_in_tx(conn, rows).await?;
        let recorded = rows.iter().filter(|row| inserted.contains(&row.id));
        let recorded: Vec<_> = recorded.collect();
        let queued: Vec<_> = webhooks
            .iter()
            .flat_map(|webhook| {
                recorded
                    .iter()
                    .flat_map(|row| self.deliveries(webhook, row))
            })
            .collect();
        if !queued.is_empty() {
            let now = self.clock.now();
            deliveries::insert_in_tx(conn, &queued, now, now + RETRY_FOR).await?;
        }
        let events = recorded.iter().map(|row| row.events().count());
        metrics::counter!("public_events_total").increment(events.sum::<usize>() as u64);
        Ok(())
    }

    /// Returns the deliveries of the row's events to a webhook that takes them.
    fn deliveries(
        &self,
        webhook: &Subscription,
        row: &EventRow,
    ) -> impl Iterator<Item = NewDelivery> {
        let selected = |event_type: &str| {
            let mut patterns = webhook.events.iter();
            patterns.any(|pattern| event_types::selects(pattern, event_type))
        };
        let events = row.events();
        let taken = events.filter(move |(_, event_type)| selected(event_type));
        taken.map(|(event_id, event_type)| NewDelivery {
            id: self.ids.uuid(),
            webhook_id: webhook.id,
            row_id: row.id,
            event_id,
            event_type: event_type.to_owned(),
        })
    }

    /// Has what was recorded and is committed now delivered, if any webhook may take it.
    pub fn notify(&self) {
        if self.has_webhooks.load(Ordering::Relaxed) {
            self.queued.notify_one();
        }
    }
}

/// Deletes old events until `stop`. One process does so at a time.
pub(crate) async fn purge_until(pool: PgPool, stop: CancellationToken) -> anyhow::Result<()> {
    let mut lease = Lease::new(pool.clone(), SCHEMA, "public-events");
    let mut ticks = interval(PURGE_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        let purged = async {
            if lease.hold().await? {
                while !pg::bounded(repo::purge(&pool)).await? {}
            }
            Ok::<_, sqlx::Error>(())
        };
        if let Err(error) = purged.await {
            let error = telemetry::chain(&error);
            tracing::debug!(error, "public events: old ones not deleted, retrying");
        }
    }
    Ok(lease.release().await?)
}
