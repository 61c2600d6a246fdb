//! JetStream: the connection that keeps trying, and the streams' one definition.
//!
//! JetStream is a courier, not a record: whatever is lost here is published again from the outbox.

use std::time::Duration;

use async_nats::{
    ConnectOptions, Event,
    connection::State,
    jetstream::{
        Context,
        stream::{self, DiscardPolicy, StorageType},
    },
};

use super::outbox::event_type;
use crate::pg::Schema;

/// As long as the outbox keeps its rows: older ones could not be replayed consistently.
const MAX_AGE: Duration = Duration::from_hours(7 * 24);
/// Absorbs a publish whose ack was lost; anything later is the inbox's business.
const DUPLICATE_WINDOW: Duration = Duration::from_secs(30);
/// Of one request to the JetStream API.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(4);

/// Starts connecting and returns at once; the connection is tried and restored for ever. Only a
/// malformed URL is an error.
pub async fn connect(url: &str, client_name: &str) -> Result<Context, async_nats::ConnectError> {
    let client = ConnectOptions::new()
        .name(client_name)
        .retry_on_initial_connect()
        .max_reconnects(None)
        .connection_timeout(Duration::from_secs(2))
        .request_timeout(Some(REQUEST_TIMEOUT))
        .ping_interval(Duration::from_secs(5))
        .reconnect_delay_callback(|attempts| {
            let doublings = u32::try_from(attempts.min(5)).unwrap_or(5);
            Duration::from_millis(50) * 2_u32.pow(doublings)
        })
        .event_callback(|event| async move { note(&event) })
        .connect(url)
        .await?;
    let mut context = async_nats::jetstream::new(client);
    context.set_timeout(REQUEST_TIMEOUT);
    Ok(context)
}

fn note(event: &Event) {
    match event {
        Event::Connected => {
            metrics::gauge!("nats_connected").set(1.0);
            tracing::info!("connected to NATS");
        }
        Event::Disconnected | Event::Closed => {
            metrics::gauge!("nats_connected").set(0.0);
            tracing::warn!("lost the connection to NATS");
        }
        other => tracing::debug!(event = %other, "NATS"),
    }
}

/// Whether the connection is up, as far as the client knows.
pub fn is_connected(js: &Context) -> bool {
    js.client().connection_state() == State::Connected
}

/// The stream of a context: `GUERDON_ORDERS`.
pub fn stream_name(context: Schema) -> String {
    format!("GUERDON_{}", context.name().to_ascii_uppercase())
}

/// Makes the context's stream unless it exists; both its publisher and its consumers do. What an
/// operator changed on it (replicas, limits) stays, but it has to take batches.
pub async fn ensure_stream(
    js: &Context,
    context: Schema,
) -> Result<(), async_nats::jetstream::context::CreateStreamError> {
    let config = stream::Config {
        name: stream_name(context),
        subjects: vec![format!("guerdon.{}.>", context.name())],
        storage: StorageType::File,
        discard: DiscardPolicy::Old,
        max_age: MAX_AGE,
        duplicate_window: DUPLICATE_WINDOW,
        allow_atomic_publish: true,
        description: Some(format!(
            "Events of {}, e.g. {}",
            context.name(),
            event_type(context, "<Event>")
        )),
        ..Default::default()
    };
    let stream = js.get_or_create_stream(config).await?;
    let existing = &stream.cached_info().config;
    if !existing.allow_atomic_publish {
        let config = stream::Config {
            allow_atomic_publish: true,
            ..existing.clone()
        };
        js.update_stream(config).await?;
    }
    Ok(())
}
