//! The inbox: a durable pull consumer whose inbox row and effect commit together, acknowledged
//! after the commit.
//!
//! Trouble that passes is waited out and uses up no tries; ten real failures, or a body that cannot
//! be read, put the event into `dead_letters` and let the others go on.

mod delivery;
mod envelope;
mod pull;

use std::{sync::Arc, time::Duration};

use async_nats::jetstream::Context;
use sqlx::{PgConnection, PgPool};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{jetstream::stream_name, outbox::event_type};
use crate::{
    error::Failure,
    pg::{self, Schema},
};
pub use envelope::Envelope;

/// One event consumed by one service: durable `<service>-<event>`.
#[derive(Debug, Clone)]
pub struct Consumer {
    schema: Schema,
    source: Schema,
    durable: String,
    subject: String,
    /// Real failures before the event is parked.
    pub max_failures: i32,
    /// The delay after the first failure; each next one waits twice as long.
    pub first_delay: Duration,
    /// The longest delay after a real failure.
    pub longest_delay: Duration,
    /// How long the effect may take; longer is a real failure.
    pub effect_within: Duration,
    /// Events under way at the same time.
    pub in_flight: usize,
}

impl Consumer {
    /// `service` consumes `event` of the context `source` and keeps its inbox in `schema`.
    pub fn new(service: &str, schema: Schema, source: Schema, event: &str) -> Self {
        Self {
            schema,
            source,
            durable: format!("{service}-{event}"),
            subject: event_type(source, event),
            max_failures: 10,
            first_delay: Duration::from_millis(500),
            longest_delay: Duration::from_secs(30),
            effect_within: Duration::from_secs(15),
            in_flight: 16,
        }
    }

    /// The durable's name, under which the inbox and the dead letters keep their rows.
    pub fn name(&self) -> &str {
        &self.durable
    }

    /// The stream it reads.
    pub fn stream(&self) -> String {
        stream_name(self.source)
    }
}

/// An effect in the consumer's own schema.
pub trait Handler: Send + Sync + 'static {
    /// The message in `guerdon.events.v1`.
    type Body: prost::Message + Default;

    /// Applies the event in the transaction of its inbox row: called until it succeeds, and its
    /// success counts once. Events of an aggregate may come in any order; a projection compares
    /// `envelope.version` with the version it has.
    fn apply_in_tx(
        &self,
        conn: &mut PgConnection,
        envelope: &Envelope,
        body: Self::Body,
    ) -> impl Future<Output = Result<(), Failure>> + Send;
}

/// An effect that runs in an engine with its own transaction.
pub trait Effect: Send + Sync + 'static {
    /// The message in `guerdon.events.v1`.
    type Body: prost::Message + Default;

    /// Applies the event. It may be called again after a success whose answer was lost, so the
    /// engine has to know the event by its id (or an operation id made from it) and say which.
    fn apply(
        &self,
        envelope: &Envelope,
        body: Self::Body,
    ) -> impl Future<Output = Result<Applied, Failure>> + Send;
}

/// Whether an event had its effect now or some time before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applied {
    /// This call did it.
    Now,
    /// It was done; nothing changed.
    Before,
}

/// Consumes until the token is cancelled and what is under way has ended. Waits for NATS and the
/// database for ever.
pub async fn run<H: Handler>(
    consumer: Consumer,
    js: Context,
    pool: PgPool,
    handler: H,
    token: CancellationToken,
) {
    let effect = InTx {
        pool: pool.clone(),
        consumer: consumer.clone(),
        handler,
    };
    pull::run(consumer, js, pool, Arc::new(effect), token).await;
}

/// As [`run`], for an effect with its own transaction; its inbox row is written afterwards.
pub async fn run_effect<E: Effect>(
    consumer: Consumer,
    js: Context,
    pool: PgPool,
    effect: E,
    token: CancellationToken,
) {
    let effect = Recorded {
        pool: pool.clone(),
        consumer: consumer.clone(),
        effect,
    };
    pull::run(consumer, js, pool, Arc::new(effect), token).await;
}

struct InTx<H> {
    pool: PgPool,
    consumer: Consumer,
    handler: H,
}

impl<H: Handler> Effect for InTx<H> {
    type Body = H::Body;

    async fn apply(&self, envelope: &Envelope, body: H::Body) -> Result<Applied, Failure> {
        let mut tx = pg::tx(&self.pool).await?;
        let applied = record(&mut tx, &self.consumer, envelope.id).await?;
        if applied == Applied::Now {
            self.handler.apply_in_tx(&mut tx, envelope, body).await?;
        }
        tx.commit().await?;
        Ok(applied)
    }
}

struct Recorded<E> {
    pool: PgPool,
    consumer: Consumer,
    effect: E,
}

impl<E: Effect> Effect for Recorded<E> {
    type Body = E::Body;

    async fn apply(&self, envelope: &Envelope, body: E::Body) -> Result<Applied, Failure> {
        let applied = self.effect.apply(envelope, body).await?;
        let mut conn = self.pool.acquire().await?;
        record(&mut conn, &self.consumer, envelope.id).await?;
        Ok(applied)
    }
}

/// Writes the inbox row, unless it is there, and forgets earlier failures. A delivery of the same
/// event at the same time waits here for the first to commit.
async fn record(
    conn: &mut PgConnection,
    consumer: &Consumer,
    event_id: Uuid,
) -> Result<Applied, sqlx::Error> {
    let sql = consumer.schema.sql(
        "with cleared as (
             delete from :schema.dead_letters where consumer = $1 and event_id = $2)
         insert into :schema.inbox (consumer, event_id) values ($1, $2) on conflict do nothing",
    );
    let written = sqlx::query(sql)
        .bind(consumer.name())
        .bind(event_id)
        .execute(conn)
        .await?;
    Ok(match written.rows_affected() {
        0 => Applied::Before,
        _ => Applied::Now,
    })
}
