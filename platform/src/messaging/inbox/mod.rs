//! The inbox: a durable pull consumer whose inbox row and effect commit together, acknowledged
//! after the commit. Events that arrive together are applied in one transaction; if that fails, each is
//! applied in its own.
//!
//! Transient errors are retried without counting as failures. After ten failures, or if its body
//! cannot be decoded, an event is parked in `dead_letters`, and the consumer goes on.

mod body;
mod delivery;
mod envelope;
mod pull;

use std::{collections::HashSet, sync::Arc, time::Duration};

use async_nats::jetstream::Context;
use futures::future::try_join_all;
use sqlx::{PgConnection, PgPool};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument as _, Span};
use uuid::Uuid;

use super::{dead_letters, jetstream::stream_name, outbox::event_type};
use crate::{
    error::Failure,
    pg::{self, Schema},
};
pub use body::Body;
pub use envelope::Envelope;

/// How long an event may be delivered again: the outbox can replay it as long as it keeps it, and the stream
/// keeps what was replayed as long.
pub const REPEATABLE_FOR: Duration = Duration::from_hours(2 * 7 * 24);

/// The consumer of one event in one service, with the durable name `<service>-<event>`, or of several events
/// of a context, with a name of its own.
#[derive(Debug, Clone)]
pub struct Consumer {
    schema: Schema,
    source: Schema,
    durable: String,
    subjects: Vec<String>,
    /// Whether what arrives is applied after what arrived before, not beside it.
    in_order: bool,
    /// Failures after which the event is parked.
    pub max_failures: i32,
    /// Delay after the first failure or transient error; it doubles with each.
    pub first_delay: Duration,
    /// Maximum delay after a failure.
    pub max_delay: Duration,
    /// Limit of the effect; reaching it is a failure.
    pub effect_timeout: Duration,
    /// Events that are received and not acknowledged; as many are applied in one transaction.
    pub max_in_flight: usize,
}

impl Consumer {
    /// Creates the consumer of `event` of the context `source`. `schema` holds the service's inbox.
    pub fn new(service: &str, schema: Schema, source: Schema, event: &str) -> Self {
        Self {
            in_order: false,
            max_in_flight: 64,
            ..Self::of_events(format!("{service}-{event}"), schema, source, &[event])
        }
    }

    /// Creates a consumer of several events of the context `source`. A process applies what it gets in the
    /// order of the stream, apart from what fails; replicas of a service share the events.
    pub fn of_events(durable: String, schema: Schema, source: Schema, events: &[&str]) -> Self {
        let subjects = events.iter().map(|event| event_type(source, event));
        Self {
            schema,
            source,
            durable,
            subjects: subjects.collect(),
            in_order: true,
            max_failures: 10,
            first_delay: Duration::from_millis(500),
            max_delay: Duration::from_secs(30),
            effect_timeout: Duration::from_secs(15),
            max_in_flight: 256,
        }
    }

    /// Returns the durable name, which is also the key in `inbox` and `dead_letters`.
    pub fn name(&self) -> &str {
        &self.durable
    }

    /// Returns the name of the stream.
    pub fn stream(&self) -> String {
        stream_name(self.source)
    }
}

/// An event that has arrived.
#[derive(Debug)]
pub struct Event<B> {
    /// Its headers.
    pub envelope: Envelope,
    /// Its message.
    pub body: B,
    /// The span of its delivery, in the trace of the request that caused it.
    pub(super) span: Span,
}

/// An effect in the consumer's own schema.
pub trait Handler: Send + Sync + 'static {
    /// The event's message in `guerdon.events.v1`.
    type Body: Body;

    /// Applies the event in the transaction of its inbox row: it is called until it succeeds, and
    /// commits once. Events of an aggregate may arrive in any order; a projection compares
    /// `envelope.version` with the version it has.
    fn apply_in_tx(
        &self,
        conn: &mut PgConnection,
        envelope: &Envelope,
        body: Self::Body,
    ) -> impl Future<Output = Result<(), Failure>> + Send;
}

/// An effect of several events in the consumer's own schema. Every [`Handler`] is one, which applies them
/// one after another.
pub trait BatchHandler: Send + Sync + 'static {
    /// The event's message in `guerdon.events.v1`, or what is made of the messages of several events.
    type Body: Body;

    /// Whether the effect has unique rows with the events' ids, so that it needs none in `inbox`. A repeat
    /// then changes nothing and counts as applied. The rows must be kept for [`REPEATABLE_FOR`].
    const IS_IDEMPOTENT: bool = false;

    /// Applies events in the transaction of their inbox rows. If it fails, each of them is applied in a
    /// transaction of its own, and [`Handler::apply_in_tx`] says what holds for it.
    fn apply_all_in_tx(
        &self,
        conn: &mut PgConnection,
        events: Vec<Event<Self::Body>>,
    ) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Is called after the commit of events that were applied.
    fn committed(&self) {}
}

impl<H: Handler> BatchHandler for H {
    type Body = H::Body;

    async fn apply_all_in_tx(
        &self,
        conn: &mut PgConnection,
        events: Vec<Event<H::Body>>,
    ) -> Result<(), Failure> {
        for event in events {
            let applied = self.apply_in_tx(conn, &event.envelope, event.body);
            applied.instrument(event.span).await?;
        }
        Ok(())
    }
}

/// An effect with its own transaction.
pub trait Effect: Send + Sync + 'static {
    /// The event's message in `guerdon.events.v1`.
    type Body: Body;

    /// Applies the event. It may be called again after a success, so the effect must be idempotent
    /// by the event's id, or an operation id made from it, and report which call this was.
    fn apply(
        &self,
        envelope: &Envelope,
        body: Self::Body,
    ) -> impl Future<Output = Result<Applied, Failure>> + Send;
}

/// Whether this call applied the event or an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applied {
    /// This call applied it.
    Now,
    /// An earlier call applied it; nothing changed.
    Before,
}

/// Consumes until the token is cancelled and the effects in progress have ended. Retries without a
/// limit while NATS or the database is unavailable.
pub async fn run<H: BatchHandler>(
    consumer: Consumer,
    js: Context,
    pool: PgPool,
    handler: H,
    token: CancellationToken,
) {
    let effect = TransactionalEffect {
        pool: pool.clone(),
        consumer: consumer.clone(),
        handler,
    };
    pull::run(consumer, js, pool, Arc::new(effect), token).await;
}

/// Consumes like [`run`], with an effect that has its own transaction; the inbox row is inserted
/// afterwards.
pub async fn run_effect<E: Effect>(
    consumer: Consumer,
    js: Context,
    pool: PgPool,
    effect: E,
    token: CancellationToken,
) {
    let effect = RecordedEffect {
        pool: pool.clone(),
        consumer: consumer.clone(),
        effect,
    };
    pull::run(consumer, js, pool, Arc::new(effect), token).await;
}

/// What a consumer does with the events that arrived together: all of it or nothing.
trait Deliver: Send + Sync + 'static {
    type Body: Body;

    /// Applies the events, and returns for each whether this call did.
    fn deliver(
        &self,
        events: Vec<Event<Self::Body>>,
    ) -> impl Future<Output = Result<Vec<Applied>, Failure>> + Send;
}

struct TransactionalEffect<H> {
    pool: PgPool,
    consumer: Consumer,
    handler: H,
}

impl<H: BatchHandler> Deliver for TransactionalEffect<H> {
    type Body = H::Body;

    async fn deliver(&self, mut events: Vec<Event<H::Body>>) -> Result<Vec<Applied>, Failure> {
        let ids = ids(&events);
        let mut tx = pg::tx(&self.pool).await?;
        let applied = if H::IS_IDEMPOTENT {
            let Consumer {
                schema, durable, ..
            } = &self.consumer;
            dead_letters::delete_in_tx(&mut tx, *schema, durable, &ids).await?;
            vec![Applied::Now; ids.len()]
        } else {
            record(&mut tx, &self.consumer, &ids).await?
        };
        let mut states = applied.iter();
        events.retain(|_| states.next() == Some(&Applied::Now));
        let is_new = !events.is_empty();
        if is_new {
            self.handler.apply_all_in_tx(&mut tx, events).await?;
        }
        tx.commit().await?;
        if is_new {
            self.handler.committed();
        }
        Ok(applied)
    }
}

struct RecordedEffect<E> {
    pool: PgPool,
    consumer: Consumer,
    effect: E,
}

impl<E: Effect> Deliver for RecordedEffect<E> {
    type Body = E::Body;

    async fn deliver(&self, events: Vec<Event<E::Body>>) -> Result<Vec<Applied>, Failure> {
        let ids = ids(&events);
        let applied = try_join_all(events.into_iter().map(|event| async move {
            let applied = self.effect.apply(&event.envelope, event.body);
            applied.instrument(event.span).await
        }));
        let applied = applied.await?;
        let mut conn = self.pool.acquire().await?;
        record(&mut conn, &self.consumer, &ids).await?;
        Ok(applied)
    }
}

fn ids<B>(events: &[Event<B>]) -> Vec<Uuid> {
    events.iter().map(|event| event.envelope.id).collect()
}

/// Inserts the inbox rows that don't exist, and deletes the dead letters. Returns for each event whether
/// its row is new; an event that is there twice is applied once. A concurrent delivery of the same event
/// waits here until the first one commits.
async fn record(
    conn: &mut PgConnection,
    consumer: &Consumer,
    event_ids: &[Uuid],
) -> Result<Vec<Applied>, sqlx::Error> {
    // In one order, so that two deliveries of the same events don't wait for each other.
    let sql = consumer.schema.sql(
        "with cleared as (
             delete from :schema.dead_letters where consumer = $1 and event_id = any($2))
         insert into :schema.inbox (consumer, event_id)
         select $1, id from unnest($2::uuid[]) as event (id) order by id
         on conflict do nothing
         returning event_id",
    );
    let inserted: Vec<Uuid> = sqlx::query_scalar(sql)
        .bind(consumer.name())
        .bind(event_ids)
        .fetch_all(conn)
        .await?;
    let mut inserted = HashSet::<_>::from_iter(inserted);
    let states = event_ids.iter().map(|id| {
        if inserted.remove(id) {
            Applied::Now
        } else {
            Applied::Before
        }
    });
    Ok(states.collect())
}
