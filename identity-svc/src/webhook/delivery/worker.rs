//! Delivers what is due. Several processes may do so: each takes deliveries of its own.
//!
//! Every webhook has its own slots, and there is no limit that webhooks share: one that is slow or does not
//! respond holds up no other. One that fails has a single slot until it has received something.

use std::{collections::HashMap, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use chrono::TimeDelta;
use futures::FutureExt as _;
use platform::{clock::Clock, pg, sealing::SealingKey, telemetry};
use sqlx::PgPool;
use tokio::{
    sync::Notify,
    task::JoinSet,
    time::{MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

use super::{
    model::{Claimed, Outcome},
    repo::{self, Room},
};
use crate::{
    error::Result,
    webhook::{
        Sender, WebhookId, disabling,
        repo::Attempts,
        secret,
        sender::{Attempt, Message},
    },
};

/// Attempts of one webhook that a process makes at once. With all webhooks that there may be, it has 400
/// connections.
const PER_WEBHOOK: i32 = 8;

/// How long a process has for a delivery before another takes it: longer than an attempt takes.
const LEASE: TimeDelta = TimeDelta::seconds(30);

const POLL_INTERVAL: Duration = Duration::from_millis(250);
const GAUGES_INTERVAL: Duration = Duration::from_secs(15);

/// Delivers events. Cloning is cheap.
#[derive(Debug, Clone)]
pub(crate) struct Worker {
    pub(crate) pool: PgPool,
    pub(crate) clock: Clock,
    pub(crate) sender: Sender,
    pub(crate) sealing: SealingKey,
    /// Is notified when deliveries are queued.
    pub(crate) queued: Arc<Notify>,
}

impl Worker {
    /// Works until `stop`; attempts in progress are finished.
    pub(crate) async fn run(self, stop: CancellationToken) -> anyhow::Result<()> {
        tokio::join!(self.deliver_until(&stop), self.update_gauges_until(&stop));
        Ok(())
    }

    async fn deliver_until(&self, stop: &CancellationToken) {
        let mut attempts = JoinSet::new();
        let mut busy = HashMap::new();
        let mut polls = interval(POLL_INTERVAL);
        polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !stop.is_cancelled() || !attempts.is_empty() {
            let mut ended: Vec<Outcome> = Vec::new();
            tokio::select! {
                Some(outcome) = attempts.join_next() => ended.extend(outcome.ok()),
                _ = polls.tick() => {}
                () = self.queued.notified() => {}
            }
            while let Some(outcome) = attempts.try_join_next() {
                ended.extend(outcome.ok());
            }
            for outcome in &ended {
                let count: &mut i32 = busy.entry(outcome.webhook_id).or_default();
                *count -= 1;
            }
            busy.retain(|_, count| *count > 0);
            self.record(&ended).await;
            for claimed in self.claim(&busy, stop).await {
                *busy.entry(claimed.webhook_id).or_default() += 1;
                attempts.spawn(self.clone().attempt(claimed));
            }
        }
    }

    async fn claim(
        &self,
        busy: &HashMap<WebhookId, i32>,
        stop: &CancellationToken,
    ) -> Vec<Claimed> {
        if stop.is_cancelled() {
            return Vec::new();
        }
        let per_webhook = PER_WEBHOOK;
        let room = Room { busy, per_webhook };
        let now = self.clock.now();
        let claimed = pg::bounded(repo::claim(&self.pool, &room, now, now + LEASE)).await;
        claimed.unwrap_or_else(|error| {
            tracing::debug!(%error, "webhooks: taking deliveries failed, retrying");
            Vec::new()
        })
    }

    /// Makes an attempt. A panic is a failed one.
    async fn attempt(self, claimed: Claimed) -> Outcome {
        let sent = AssertUnwindSafe(self.send(&claimed)).catch_unwind().await;
        let attempt = match sent {
            Ok(Ok(attempt)) => attempt,
            Ok(Err(error)) => {
                let (delivery, error) = (claimed.id, telemetry::chain(&error));
                tracing::error!(%delivery, error, "webhooks: event not sent, retrying");
                Attempt::failed("the secret of the webhook cannot be read")
            }
            Err(_panic) => Attempt::failed("the attempt panicked"),
        };
        claimed.conclude(attempt, self.clock.now(), rand::random())
    }

    async fn send(&self, claimed: &Claimed) -> Result<Attempt> {
        let secrets = secret::open(
            &self.sealing,
            claimed.webhook_id,
            &claimed.sealed_secret,
            claimed.old_sealed_secret.as_deref(),
        )?;
        let message = Message {
            url: &claimed.url,
            secrets: &secrets,
            event_id: claimed.event.id.to_string(),
            timestamp: self.clock.now().timestamp(),
            payload: claimed.event.payload(),
        };
        Ok(self.sender.send(&message).await)
    }

    /// Records the ends of attempts. If that fails, the events are sent again when their leases end.
    async fn record(&self, outcomes: &[Outcome]) {
        if outcomes.is_empty() {
            return;
        }
        for outcome in outcomes {
            log(outcome);
        }
        if let Err(error) = self.try_record(outcomes).await {
            let (count, error) = (outcomes.len(), telemetry::chain(&error));
            tracing::warn!(
                count,
                error,
                "webhooks: attempts not recorded, repeating them"
            );
        }
    }

    async fn try_record(&self, outcomes: &[Outcome]) -> Result<()> {
        let now = self.clock.now();
        let mut tx = pg::tx(&self.pool).await?;
        pg::bounded(repo::record_in_tx(&mut tx, outcomes, now)).await?;
        disabling::note_attempts_in_tx(&mut tx, &noted(outcomes), now).await?;
        Ok(pg::bounded(tx.commit()).await?)
    }

    async fn update_gauges_until(&self, stop: &CancellationToken) {
        let mut ticks = interval(GAUGES_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while stop.run_until_cancelled(ticks.tick()).await.is_some() {
            match pg::bounded(repo::backlog(&self.pool, self.clock.now())).await {
                Ok((pending, overdue)) => {
                    metrics::gauge!("webhook_deliveries_pending").set(pending);
                    metrics::gauge!("webhook_deliveries_overdue_seconds").set(overdue);
                }
                Err(error) => tracing::debug!(%error, "webhooks: backlog not counted"),
            }
        }
    }
}

/// Sorts the webhooks by the results of their attempts.
fn noted(outcomes: &[Outcome]) -> Attempts {
    let mut noted = Attempts::default();
    for outcome in outcomes {
        let id = outcome.webhook_id.uuid();
        let Some(error) = &outcome.attempt.error else {
            noted.reached.push(id);
            continue;
        };
        noted.errors.insert(id, error.clone());
        if outcome.attempt.is_gone() {
            noted.gone.push(id);
        } else {
            noted.failed.push(id);
        }
    }
    let reached = &noted.reached;
    noted.failed.retain(|id| !reached.contains(id));
    noted
}

fn log(outcome: &Outcome) {
    let (webhook, delivery) = (outcome.webhook_id, outcome.id);
    let (attempts, status) = (outcome.attempts, outcome.status.as_str());
    let label = match (&outcome.attempt.error, outcome.status) {
        (None, _) => "delivered",
        (Some(_), super::Status::Pending) => "retried",
        (Some(_), _) => "failed",
    };
    metrics::counter!("webhook_attempts_total", "outcome" => label).increment(1);
    metrics::histogram!("webhook_attempt_seconds", "outcome" => label)
        .record(outcome.attempt.duration.as_secs_f64());
    match &outcome.attempt.error {
        None => tracing::debug!(%webhook, %delivery, attempts, "webhooks: event delivered"),
        Some(error) => {
            tracing::info!(%webhook, %delivery, attempts, status, error, "webhooks: attempt failed");
        }
    }
}
