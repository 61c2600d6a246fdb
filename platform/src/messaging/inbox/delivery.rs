//! One delivery of an event: applied, deferred, tried again later, or parked.

use std::{error::Error as _, fmt::Write as _, panic::AssertUnwindSafe, time::Duration};

use async_nats::jetstream::{AckKind, Message};
use futures::FutureExt as _;
use prost::Message as _;
use sqlx::PgPool;
use tokio::time::timeout;
use tracing::Instrument as _;

use super::{Applied, Consumer, Effect, Envelope, envelope};
use crate::{
    error::Failure,
    failpoint,
    messaging::dead_letters::{self, Letter},
    telemetry,
};

/// The longest wait for something that is away; it should be noticed soon when it is back.
const LONGEST_DEFERRAL: Duration = Duration::from_secs(4);

/// What a delivery came to.
enum Outcome {
    Applied(Applied),
    /// Something needed is away: again, as often as it takes.
    Deferred(Failure),
    /// A real failure.
    Failed(String),
    /// The message cannot be read and never will be.
    Poison(String),
}

/// Handles one delivery and answers it; a crash on the way means a redelivery.
pub(super) async fn handle<E: Effect>(
    consumer: &Consumer,
    pool: &PgPool,
    effect: &E,
    message: Message,
) {
    let envelope = Envelope::read(&message);
    let span = span(consumer, envelope.as_ref().ok());
    async {
        let outcome = apply(consumer, effect, envelope, &message).await;
        failpoint::hit("inbox.applied");
        let answer = judge(consumer, pool, &message, outcome).await;
        if let Err(error) = message.ack_with(answer).await {
            tracing::debug!(%error, "the answer is lost, so the event comes again");
        }
    }
    .instrument(span)
    .await;
}

fn span(consumer: &Consumer, envelope: Option<&Envelope>) -> tracing::Span {
    let span = tracing::info_span!(
        "inbox.apply",
        otel.name = format!("{} process", consumer.name()),
        otel.kind = "consumer",
        messaging.system = "nats",
        messaging.destination.name = consumer.subject,
        messaging.message.id = envelope.map(|envelope| envelope.id.to_string()),
    );
    if let Some(traceparent) = envelope.and_then(|envelope| envelope.traceparent.as_deref()) {
        telemetry::set_parent(&span, traceparent);
    }
    span
}

async fn apply<E: Effect>(
    consumer: &Consumer,
    effect: &E,
    envelope: Result<Envelope, String>,
    message: &Message,
) -> Outcome {
    let envelope = match envelope {
        Ok(envelope) => envelope,
        Err(reason) => return Outcome::Poison(reason),
    };
    let body = match E::Body::decode(message.payload.clone()) {
        Ok(body) => body,
        Err(error) => return Outcome::Poison(format!("the body cannot be read: {error}")),
    };
    let applied = AssertUnwindSafe(effect.apply(&envelope, body)).catch_unwind();
    match timeout(consumer.effect_within, applied).await {
        Ok(Ok(Ok(applied))) => Outcome::Applied(applied),
        Ok(Ok(Err(failure))) if failure.code.is_transient() => Outcome::Deferred(failure),
        Ok(Ok(Err(failure))) => Outcome::Failed(with_causes(&failure)),
        Ok(Err(_panic)) => Outcome::Failed("the handler panicked".to_owned()),
        Err(_elapsed) => Outcome::Failed(format!("no answer within {:?}", consumer.effect_within)),
    }
}

fn with_causes(failure: &Failure) -> String {
    let mut text = failure.to_string();
    let mut cause = failure.source();
    while let Some(error) = cause {
        // Writing to a string cannot fail.
        let _ = write!(text, ": {error}");
        cause = error.source();
    }
    text
}

/// Decides the answer, and records a failure before it is given.
async fn judge(consumer: &Consumer, pool: &PgPool, message: &Message, outcome: Outcome) -> AckKind {
    let (result, answer) = match outcome {
        Outcome::Applied(Applied::Now) => ("applied", AckKind::Ack),
        Outcome::Applied(Applied::Before) => ("duplicate", AckKind::Ack),
        Outcome::Deferred(failure) => {
            tracing::debug!(%failure, consumer = consumer.name(), "deferred an event");
            ("deferred", AckKind::Nak(Some(deferral(consumer, message))))
        }
        Outcome::Failed(reason) => {
            record(consumer, pool, message, reason, consumer.max_failures).await
        }
        Outcome::Poison(reason) => record(consumer, pool, message, reason, 1).await,
    };
    metrics::counter!("inbox_events_total", "consumer" => consumer.name().to_owned(), "result" => result)
        .increment(1);
    answer
}

async fn record(
    consumer: &Consumer,
    pool: &PgPool,
    message: &Message,
    reason: String,
    max_failures: i32,
) -> (&'static str, AckKind) {
    let (stream, sequence) = match message.info() {
        Ok(info) => (info.stream.to_owned(), info.stream_sequence),
        Err(_not_jetstream) => (consumer.stream(), 0),
    };
    let letter = Letter {
        consumer: consumer.name(),
        event_id: envelope::id_of(message, &stream, sequence),
        message,
        reason: &reason,
    };
    match dead_letters::record_failure(pool, consumer.schema, letter, max_failures).await {
        Ok(failures) if failures >= max_failures => {
            tracing::error!(consumer = consumer.name(), reason, "parked an event");
            ("parked", AckKind::Ack)
        }
        Ok(failures) => {
            tracing::warn!(
                consumer = consumer.name(),
                failures,
                reason,
                "an event failed"
            );
            let delay = doubled(consumer.first_delay, failures, consumer.longest_delay);
            ("failed", AckKind::Nak(Some(delay)))
        }
        Err(error) => {
            tracing::debug!(%error, "the failure could not be recorded, so it does not count");
            ("deferred", AckKind::Nak(Some(deferral(consumer, message))))
        }
    }
}

/// A bare nak would have the event back in a moment, over and over.
fn deferral(consumer: &Consumer, message: &Message) -> Duration {
    let deliveries = message.info().map_or(1, |info| info.delivered);
    let deliveries = i32::try_from(deliveries).unwrap_or(i32::MAX);
    doubled(consumer.first_delay, deliveries, LONGEST_DEFERRAL)
}

fn doubled(first: Duration, times: i32, longest: Duration) -> Duration {
    let doublings = u32::try_from(times - 1).unwrap_or(0).min(16);
    first.saturating_mul(1 << doublings).min(longest)
}
