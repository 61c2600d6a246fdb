//! Puts recorded events in order and queues them for webhooks, in one transaction; deletes old ones.

use std::{sync::Arc, time::Duration};

use platform::{clock::Clock, ids::Ids, messaging::Lease, pg, telemetry};
use sqlx::PgPool;
use tokio::{
    sync::Notify,
    time::{MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

use super::{event_types, repo};
use crate::{
    SCHEMA,
    error::Result,
    webhook::delivery::{
        RETRY_FOR,
        repo::{self as deliveries, NewDelivery},
    },
};

const POLL_INTERVAL: Duration = Duration::from_millis(100);
const PURGE_INTERVAL: Duration = Duration::from_mins(1);

/// Puts events in order. One process does so at a time.
#[derive(Debug, Clone)]
pub(crate) struct Sequencer {
    pub(crate) pool: PgPool,
    pub(crate) clock: Clock,
    pub(crate) ids: Ids,
    /// Wakes the worker that delivers.
    pub(crate) queued: Arc<Notify>,
}

impl Sequencer {
    /// Works until `stop`.
    pub(crate) async fn run(self, stop: CancellationToken) -> anyhow::Result<()> {
        let mut lease = Lease::new(self.pool.clone(), SCHEMA, "public-events");
        let mut polls = interval(POLL_INTERVAL);
        polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut purges = interval(PURGE_INTERVAL);
        purges.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let purge = tokio::select! {
                () = stop.cancelled() => return Ok(lease.release().await?),
                _ = polls.tick() => false,
                _ = purges.tick() => true,
            };
            let worked = async {
                if !lease.hold().await? {
                    return Ok(());
                }
                if purge {
                    while !pg::bounded(repo::purge(&self.pool)).await? {}
                    Ok(())
                } else {
                    self.drain(&stop).await
                }
            };
            if let Err(error) = worked.await {
                let error = telemetry::chain(&error);
                tracing::debug!(error, "public events: not put in order, retrying");
            }
        }
    }

    async fn drain(&self, stop: &CancellationToken) -> Result<()> {
        while !stop.is_cancelled() && pg::bounded(repo::has_unsequenced(&self.pool)).await? {
            self.sequence().await?;
        }
        Ok(())
    }

    /// Puts one batch in order and queues it.
    async fn sequence(&self) -> Result<()> {
        let mut tx = pg::tx(&self.pool).await?;
        let events = pg::bounded(repo::sequence_in_tx(&mut tx)).await?;
        let webhooks = deliveries::subscriptions_in_tx(&mut tx).await?;
        let mut queued = Vec::new();
        for webhook in &webhooks {
            let selected = events.iter().filter(|event| {
                let mut patterns = webhook.events.iter();
                patterns.any(|pattern| event_types::selects(pattern, &event.event_type))
            });
            queued.extend(selected.map(|event| NewDelivery {
                id: self.ids.uuid(),
                webhook_id: webhook.id,
                event_id: event.id,
                event_type: event.event_type.clone(),
            }));
        }
        let now = self.clock.now();
        pg::bounded(deliveries::insert_in_tx(
            &mut tx,
            &queued,
            now,
            now + RETRY_FOR,
        ))
        .await?;
        pg::bounded(tx.commit()).await?;
        metrics::counter!("public_events_total").increment(events.len() as u64);
        if !queued.is_empty() {
            self.queued.notify_one();
        }
        Ok(())
    }
}
