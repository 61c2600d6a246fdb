//! Deliveries of events: applied together, or one by one: applied, deferred, failed, or parked.

use std::{error::Error as _, fmt::Write as _, panic::AssertUnwindSafe, time::Duration};

use async_nats::jetstream::{AckKind, Message};
use futures::{FutureExt as _, StreamExt as _, stream};
use sqlx::PgPool;
use tokio::time::timeout;
use tracing::{Instrument as _, Span};

use super::{Applied, Body as _, Consumer, Deliver, Envelope, Event, envelope};
use crate::{
    backoff::Backoff,
    error::{Code, Failure},
    failpoint,
    messaging::dead_letters::{self, FailedDelivery},
    pg, telemetry,
};

/// Maximum delay after a transient error; short, so that recovery is noticed soon.
const MAX_DEFERRAL: Duration = Duration::from_secs(4);

/// Divides the time of an effect for events that are applied together: each can be applied by itself
/// afterwards, before JetStream delivers it again.
const BATCH_TIMEOUT_DIVISOR: u32 = 3;

/// Events without an order that are applied at once by themselves, after applying them together failed.
const CONCURRENCY: usize = 8;

/// The result of a delivery.
enum Outcome {
    Applied(Applied),
    /// A transient error: retried without a limit.
    Deferred(Failure),
    /// A failure, which counts.
    Failed(String),
    /// The message cannot be decoded.
    Malformed(String),
}

/// Applies events that arrived together, and acknowledges their deliveries; after a crash in between
/// they are redelivered. If one of them fails, each is applied by itself.
pub(super) async fn handle_all<E: Deliver>(
    consumer: &Consumer,
    pool: &PgPool,
    effect: &E,
    messages: Vec<Message>,
) {
    let mut own = Vec::with_capacity(messages.len());
    for message in messages {
        if dead_letters::is_addressed_to(consumer.name(), &message) {
            own.push(message);
        } else {
            acknowledge(&message, AckKind::Ack).await;
        }
    }
    if own.len() > 1 && apply_together(consumer, effect, &own).await {
        return;
    }
    let concurrency = if consumer.in_order { 1 } else { CONCURRENCY };
    stream::iter(own)
        .for_each_concurrent(concurrency, |message| {
            handle(consumer, pool, effect, message)
        })
        .await;
}

/// Applies the events in one go. Returns `false` if none of them is applied.
async fn apply_together<E: Deliver>(consumer: &Consumer, effect: &E, messages: &[Message]) -> bool {
    let events = messages.iter().map(|message| {
        let envelope = Envelope::read(message).ok()?;
        let body = E::Body::decode(&envelope.event_type, message.payload.clone()).ok()?;
        let span = span(consumer, Some(&envelope));
        Some(Event {
            envelope,
            body,
            span,
        })
    });
    let Some(events) = events.collect::<Option<Vec<_>>>() else {
        return false;
    };
    let delivered = AssertUnwindSafe(effect.deliver(events)).catch_unwind();
    let limit = consumer.effect_timeout / BATCH_TIMEOUT_DIVISOR;
    let Ok(Ok(Ok(applied))) = timeout(limit, delivered).await else {
        let (consumer, events) = (consumer.name(), messages.len());
        tracing::debug!(
            consumer,
            events,
            "inbox: not applied together, applying one by one"
        );
        return false;
    };
    failpoint::hit("inbox.applied");
    for (message, applied) in messages.iter().zip(applied) {
        let (result, ack) = acknowledgement(applied);
        count(consumer, result);
        acknowledge(message, ack).await;
    }
    true
}

async fn acknowledge(message: &Message, ack: AckKind) {
    if let Err(error) = message.ack_with(ack).await {
        tracing::debug!(%error, "inbox: ack failed, the event is redelivered");
    }
}

/// Applies one event.
async fn handle<E: Deliver>(consumer: &Consumer, pool: &PgPool, effect: &E, message: Message) {
    let envelope = Envelope::read(&message);
    let span = span(consumer, envelope.as_ref().ok());
    async {
        let outcome = apply(consumer, pool, effect, envelope, &message).await;
        failpoint::hit("inbox.applied");
        let ack = ack_for(consumer, pool, &message, outcome).await;
        acknowledge(&message, ack).await;
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
        messaging.destination.name = envelope.map(|envelope| &*envelope.event_type),
        messaging.message.id = envelope.map(|envelope| envelope.id.to_string()),
    );
    if let Some(traceparent) = envelope.and_then(|envelope| envelope.traceparent.as_deref()) {
        telemetry::set_parent(&span, traceparent);
    }
    span
}

async fn apply<E: Deliver>(
    consumer: &Consumer,
    pool: &PgPool,
    effect: &E,
    envelope: Result<Envelope, String>,
    message: &Message,
) -> Outcome {
    let envelope = match envelope {
        Ok(envelope) => envelope,
        Err(reason) => return Outcome::Malformed(reason),
    };
    let body = match E::Body::decode(&envelope.event_type, message.payload.clone()) {
        Ok(body) => body,
        Err(error) => return Outcome::Malformed(format!("the body cannot be decoded: {error}")),
    };
    let span = Span::current();
    let event = Event {
        envelope,
        body,
        span,
    };
    let delivered = AssertUnwindSafe(effect.deliver(vec![event])).catch_unwind();
    match timeout(consumer.effect_timeout, delivered).await {
        Ok(Ok(Ok(applied))) => Outcome::Applied(applied[0]),
        Ok(Ok(Err(failure))) if failure.code.is_transient() => Outcome::Deferred(failure),
        Ok(Ok(Err(failure))) => Outcome::Failed(with_causes(&failure)),
        Ok(Err(_panic)) => Outcome::Failed("the handler panicked".to_owned()),
        // A database that does not respond is not the event's fault.
        Err(_elapsed) if !pg::is_reachable(pool).await => {
            let reason = "timed out while the database is unavailable";
            Outcome::Deferred(Failure::new(Code::Unavailable, reason))
        }
        Err(_elapsed) => Outcome::Failed(format!("timed out after {:?}", consumer.effect_timeout)),
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

/// Returns the ack of a delivery, after recording a failure.
async fn ack_for(
    consumer: &Consumer,
    pool: &PgPool,
    message: &Message,
    outcome: Outcome,
) -> AckKind {
    let (result, ack) = match outcome {
        Outcome::Applied(applied) => acknowledgement(applied),
        Outcome::Deferred(failure) => {
            tracing::debug!(%failure, consumer = consumer.name(), "inbox: transient error, event is retried");
            ("deferred", AckKind::Nak(Some(deferral(consumer, message))))
        }
        Outcome::Failed(reason) => {
            record(consumer, pool, message, reason, consumer.max_failures).await
        }
        Outcome::Malformed(reason) => record(consumer, pool, message, reason, 1).await,
    };
    count(consumer, result);
    ack
}

fn acknowledgement(applied: Applied) -> (&'static str, AckKind) {
    match applied {
        Applied::Now => ("applied", AckKind::Ack),
        Applied::Before => ("duplicate", AckKind::Ack),
    }
}

fn count(consumer: &Consumer, result: &'static str) {
    metrics::counter!("inbox_events_total", "consumer" => consumer.name().to_owned(), "result" => result)
        .increment(1);
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
    let delivery = FailedDelivery {
        consumer: consumer.name(),
        event_id: envelope::id_of(message, &stream, sequence),
        subject: message.subject.as_str(),
        headers: message.headers.as_ref(),
        payload: &message.payload,
        reason: &reason,
    };
    let recorded = dead_letters::record_failure(pool, consumer.schema, delivery, max_failures);
    match pg::bounded(recorded).await {
        Ok(failures) if failures >= max_failures => {
            let consumer = consumer.name();
            tracing::error!(consumer, reason, "inbox: event failed too often, parked");
            ("parked", AckKind::Ack)
        }
        Ok(failures) => {
            let backoff = Backoff::new(consumer.first_delay, consumer.max_delay);
            let delay = backoff.after(u32::try_from(failures).unwrap_or(1));
            let consumer = consumer.name();
            tracing::warn!(consumer, failures, reason, "inbox: event failed, retrying");
            ("failed", AckKind::Nak(Some(delay)))
        }
        Err(error) => {
            tracing::debug!(%error, "inbox: failure not recorded, retrying without counting it");
            ("deferred", AckKind::Nak(Some(deferral(consumer, message))))
        }
    }
}

/// Returns the delay after a transient error. Without one JetStream redelivers immediately.
fn deferral(consumer: &Consumer, message: &Message) -> Duration {
    let deliveries = message.info().map_or(1, |info| info.delivered);
    let deliveries = u32::try_from(deliveries).unwrap_or(u32::MAX);
    Backoff::new(consumer.first_delay, MAX_DEFERRAL).after(deliveries)
}
