//! The connection to JetStream, and the definition of the streams.
//!
//! Streams are no record of events: what JetStream loses is published again from the outbox.

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
use crate::{backoff::Backoff, pg::Schema};

/// Equal to the time that the outbox keeps events, so that both can replay the same ones.
const MAX_AGE: Duration = Duration::from_hours(7 * 24);
/// Drops the retry of a publish whose ack was lost; later duplicates are skipped by the inbox.
const DUPLICATE_WINDOW: Duration = Duration::from_secs(30);
/// Limit of a request to the JetStream API.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(4);
const RECONNECT: Backoff = Backoff::new(Duration::from_millis(50), Duration::from_millis(1_600));

/// Starts connecting and returns immediately; reconnects without a limit. Fails on a malformed URL
/// only.
pub async fn connect(url: &str, client_name: &str) -> Result<Context, async_nats::ConnectError> {
    let client = ConnectOptions::new()
        .name(client_name)
        .retry_on_initial_connect()
        .max_reconnects(None)
        .connection_timeout(Duration::from_secs(2))
        .request_timeout(Some(REQUEST_TIMEOUT))
        .ping_interval(Duration::from_secs(5))
        .reconnect_delay_callback(|attempts| {
            let attempts = u32::try_from(attempts).unwrap_or(u32::MAX);
            RECONNECT.after(attempts.saturating_add(1))
        })
        .event_callback(|event| async move { report(&event) })
        .connect(url)
        .await?;
    let mut context = async_nats::jetstream::new(client);
    context.set_timeout(REQUEST_TIMEOUT);
    Ok(context)
}

fn report(event: &Event) {
    match event {
        Event::Connected => {
            metrics::gauge!("nats_connected").set(1.0);
            tracing::info!("nats: connected");
        }
        Event::Disconnected | Event::Closed => {
            metrics::gauge!("nats_connected").set(0.0);
            tracing::warn!("nats: connection lost, reconnecting");
        }
        other => tracing::debug!(event = %other, "nats: client event"),
    }
}

/// Returns whether the client is connected.
pub fn is_connected(js: &Context) -> bool {
    js.client().connection_state() == State::Connected
}

/// Returns the name of a context's stream: `GUERDON_ORDERS`.
pub fn stream_name(context: Schema) -> String {
    format!("GUERDON_{}", context.name().to_ascii_uppercase())
}

/// Creates the context's stream unless it exists; called by its publisher and its consumers. Changes
/// by an operator (replicas, limits) stay, except that batches are enabled.
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
