//! The pull loop: short pulls, each with its own end, so that no silence lasts; a stream or consumer
//! that is missing is made again.

use std::{sync::Arc, time::Duration};

use async_nats::jetstream::{
    Context,
    consumer::{AckPolicy, DeliverPolicy, PullConsumer, pull},
};
use futures::StreamExt as _;
use sqlx::PgPool;
use tokio::{
    sync::Semaphore,
    time::{sleep, timeout},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{Consumer, Effect, delivery};
use crate::messaging::jetstream::ensure_stream;

/// How long the server keeps a pull open. A client that lost its subscription notices by the end.
const PULL: Duration = Duration::from_secs(5);
const FLUSH: Duration = Duration::from_secs(1);
/// Between attempts to set the consumer up.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

pub(super) async fn run<E: Effect>(
    consumer: Consumer,
    js: Context,
    pool: PgPool,
    effect: Arc<E>,
    token: CancellationToken,
) {
    let puller = Puller {
        slots: Arc::new(Semaphore::new(consumer.in_flight)),
        consumer: Arc::new(consumer),
        js,
        pool,
        effect,
        under_way: TaskTracker::new(),
    };
    puller.pull_until(&token).await;
    puller.under_way.close();
    puller.under_way.wait().await;
    // The last acks are still in the client's buffer.
    if timeout(FLUSH, puller.js.client().flush()).await.is_err() {
        tracing::debug!("some acks are lost, so their events come again");
    }
}

struct Puller<E> {
    consumer: Arc<Consumer>,
    js: Context,
    pool: PgPool,
    effect: Arc<E>,
    slots: Arc<Semaphore>,
    under_way: TaskTracker,
}

impl<E: Effect> Puller<E> {
    async fn pull_until(&self, token: &CancellationToken) {
        let mut pause = Duration::from_millis(50);
        loop {
            let ended = tokio::select! {
                () = token.cancelled() => return,
                ended = self.session() => ended,
            };
            match ended {
                Ok(()) => pause = Duration::from_millis(50),
                Err(error) => {
                    tracing::debug!(%error, consumer = self.consumer.name(), "no events");
                    tokio::select! {
                        () = token.cancelled() => return,
                        () = sleep(pause) => pause = (pause * 2).min(LONGEST_PAUSE),
                    }
                }
            }
        }
    }

    /// Pulls until a pull brings nothing: then it looks whether the consumer is still there.
    async fn session(&self) -> Result<(), async_nats::Error> {
        let durable = self.ensure_consumer().await?;
        loop {
            let free = self.slots.acquire().await?;
            drop(free);
            // Not more than can be started at once: a message that waits here may be redelivered.
            let batch = self.slots.available_permits();
            let mut messages = durable
                .batch()
                .max_messages(batch)
                .expires(PULL)
                .messages()
                .await?;
            let mut received = 0;
            while let Some(message) = timeout(PULL * 2, messages.next()).await? {
                received += 1;
                self.start(message?).await?;
            }
            if received == 0 {
                return Ok(());
            }
        }
    }

    async fn start(
        &self,
        message: async_nats::jetstream::Message,
    ) -> Result<(), async_nats::Error> {
        let slot = Arc::clone(&self.slots).acquire_owned().await?;
        let (consumer, pool) = (Arc::clone(&self.consumer), self.pool.clone());
        let effect = Arc::clone(&self.effect);
        self.under_way.spawn(async move {
            delivery::handle(&consumer, &pool, &*effect, message).await;
            drop(slot);
        });
        Ok(())
    }

    async fn ensure_consumer(&self) -> Result<PullConsumer, async_nats::Error> {
        let consumer = &self.consumer;
        ensure_stream(&self.js, consumer.source).await?;
        let config = pull::Config {
            durable_name: Some(consumer.name().to_owned()),
            filter_subject: consumer.subject.clone(),
            deliver_policy: DeliverPolicy::All,
            ack_policy: AckPolicy::Explicit,
            // An effect has ended, or was given up, long before.
            ack_wait: consumer.effect_within * 2,
            // Tries are counted in dead_letters: JetStream would count outages too, and then drop.
            max_deliver: -1,
            ..Default::default()
        };
        let made = self
            .js
            .create_consumer_on_stream(config, consumer.stream())
            .await?;
        Ok(made)
    }
}
