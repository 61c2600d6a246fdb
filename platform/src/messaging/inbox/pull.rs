//! The pull loop. Each pull expires after a few seconds, so a lost subscription is noticed; a missing
//! consumer is created. The stream is created by its publisher, and waited for.

use std::{sync::Arc, time::Duration};

use async_nats::jetstream::{
    Context, Message,
    consumer::{AckPolicy, DeliverPolicy, PullConsumer, pull},
};
use futures::{StreamExt as _, TryStreamExt as _, stream::TryReadyChunksError};
use sqlx::PgPool;
use tokio::{
    sync::Semaphore,
    time::{sleep, timeout},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{Consumer, Deliver, delivery};
use crate::backoff::Backoff;

/// How long the server keeps a pull open.
const PULL_EXPIRY: Duration = Duration::from_secs(5);
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);
/// Delays between attempts to create the consumer and pull.
const RETRY: Backoff = Backoff::new(Duration::from_millis(50), Duration::from_secs(2));

pub(super) async fn run<E: Deliver>(
    consumer: Consumer,
    js: Context,
    pool: PgPool,
    effect: Arc<E>,
    token: CancellationToken,
) {
    let puller = Puller {
        slots: Arc::new(Semaphore::new(consumer.max_in_flight)),
        consumer: Arc::new(consumer),
        js,
        pool,
        effect,
        in_progress: TaskTracker::new(),
    };
    puller.pull_until(&token).await;
    puller.in_progress.close();
    puller.in_progress.wait().await;
    // The client may still buffer the last acks.
    if timeout(FLUSH_TIMEOUT, puller.js.client().flush())
        .await
        .is_err()
    {
        tracing::debug!("inbox: acks not flushed, their events are redelivered");
    }
}

struct Puller<E> {
    consumer: Arc<Consumer>,
    js: Context,
    pool: PgPool,
    effect: Arc<E>,
    slots: Arc<Semaphore>,
    in_progress: TaskTracker,
}

impl<E: Deliver> Puller<E> {
    async fn pull_until(&self, token: &CancellationToken) {
        let mut retry = RETRY;
        loop {
            let ended = tokio::select! {
                () = token.cancelled() => return,
                ended = self.session() => ended,
            };
            match ended {
                Ok(()) => retry.reset(),
                Err(error) => {
                    let consumer = self.consumer.name();
                    tracing::debug!(%error, consumer, "inbox: pull failed, retrying");
                    tokio::select! {
                        () = token.cancelled() => return,
                        () = sleep(retry.next_delay()) => {}
                    }
                }
            }
        }
    }

    /// Pulls until a pull returns no message; the next session checks that the consumer exists.
    async fn session(&self) -> Result<(), async_nats::Error> {
        let durable = self.ensure_consumer().await?;
        loop {
            let free = self.slots.acquire().await?;
            drop(free);
            // No more than can be started now: a message that waits here may be redelivered.
            let batch = self.slots.available_permits();
            let messages = durable
                .batch()
                .max_messages(batch)
                .expires(PULL_EXPIRY)
                .messages()
                .await?;
            let mut arrivals = messages.try_ready_chunks(batch);
            let mut received = 0;
            while let Some(arrived) = timeout(PULL_EXPIRY * 2, arrivals.next()).await? {
                let (messages, failed) = match arrived {
                    Ok(messages) => (messages, None),
                    Err(TryReadyChunksError(messages, error)) => (messages, Some(error)),
                };
                received += messages.len();
                self.start(messages).await?;
                if let Some(error) = failed {
                    return Err(error);
                }
            }
            if received == 0 {
                return Ok(());
            }
        }
    }

    /// Starts to apply messages that arrived together.
    async fn start(&self, messages: Vec<Message>) -> Result<(), async_nats::Error> {
        let count = if self.consumer.in_order {
            self.consumer.max_in_flight
        } else {
            messages.len()
        };
        let count = u32::try_from(count)?;
        let slots = Arc::clone(&self.slots).acquire_many_owned(count).await?;
        let (consumer, pool) = (Arc::clone(&self.consumer), self.pool.clone());
        let effect = Arc::clone(&self.effect);
        self.in_progress.spawn(async move {
            delivery::handle_all(&consumer, &pool, &*effect, messages).await;
            drop(slots);
        });
        Ok(())
    }

    async fn ensure_consumer(&self) -> Result<PullConsumer, async_nats::Error> {
        let consumer = &self.consumer;
        // A single subject is part of the API's subject, to which NATS can limit a user.
        let (filter_subject, filter_subjects) = match &*consumer.subjects {
            [subject] => (subject.clone(), Vec::new()),
            subjects => (String::new(), subjects.to_vec()),
        };
        let config = pull::Config {
            durable_name: Some(consumer.name().to_owned()),
            filter_subject,
            filter_subjects,
            deliver_policy: DeliverPolicy::All,
            ack_policy: AckPolicy::Explicit,
            // The effect times out long before.
            ack_wait: consumer.effect_timeout * 2,
            // Failures are counted in dead_letters: JetStream would count outages too, and then drop.
            max_deliver: -1,
            ..Default::default()
        };
        Ok(self
            .js
            .create_consumer_on_stream(config, consumer.stream())
            .await?)
    }
}
