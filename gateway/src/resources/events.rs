//! `/events`

use std::{convert::Infallible, time::Duration};

use axum::{
    body::{Body, Bytes},
    extract::{RawQuery, State},
    http::{HeaderMap, HeaderName, header},
    response::{IntoResponse, Response},
};
use futures::{Stream, stream};
use platform::{
    error::{Failure, FieldCode},
    list::{query, refuse},
};
use proto::identity::v1::{PublicEvent, WatchEventsRequest, WatchEventsResponse};
use serde::Serialize;
use tokio::time::{Instant, MissedTickBehavior, interval_at};
use tonic::Streaming;

use crate::{
    App, access::StreamGuard, client_address::ClientAddress, error::Problem, extract::Call,
};

/// How often a comment shows that the stream is alive.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// How often the credentials are checked again.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The types that a stream may name.
const MAX_TYPES: usize = 100;

/// A message, as OpenAPI describes server-sent events: by its fields.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct EventMessage {
    /// The event's, for `Last-Event-ID`; empty in a `reset`.
    id: String,
    /// The type of the event, or `reset`.
    event: String,
    /// The body that webhooks get, with `type`, `timestamp` and `data`; `{}` in a `reset`.
    #[schema(content_media_type = "application/json")]
    data: String,
}

/// Stream events as they happen.
///
/// Server-sent events: `id` is the event's, `event` its type, `data` the body that webhooks get. A client
/// that reconnects with `Last-Event-ID` gets what it missed within the last two weeks. If that event is not
/// known, the message `reset` comes first, and the stream starts now. A comment comes every 15 seconds. The
/// stream ends when the credentials do.
pub(crate) async fn stream(
    State(app): State<App>,
    call: Call,
    address: ClientAddress,
    RawQuery(raw): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let raw = raw.unwrap_or_default();
    let request = call.request(WatchEventsRequest {
        after_id: last_event_id(&headers, &raw)?,
        types: types(&raw)?,
    });
    let mut events = call.clients.events();
    let messages = events.watch_events(request).await?.into_inner();
    let guard = app.stream_guard(address, headers);
    let head = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
        // Proxies of the nginx family pass on each message at once.
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    let body = Body::from_stream(chunks(messages, guard));
    Ok((head, body).into_response())
}

/// Returns the event that the client saw last: from the header, as browsers send it when they reconnect,
/// or from the query.
fn last_event_id(headers: &HeaderMap, raw: &str) -> Result<Option<String>, Failure> {
    let of_header = headers.get(LAST_EVENT_ID).map(|id| id.to_str());
    let of_header = of_header.transpose().map_err(|_| {
        refuse(
            "lastEventId",
            FieldCode::Format,
            "must be the id of an event",
        )
    })?;
    let id = match of_header {
        Some(id) => Some(id.to_owned()),
        None => query::text(raw, "lastEventId")?,
    };
    Ok(id.filter(|id| !id.is_empty()))
}

fn types(raw: &str) -> Result<Vec<String>, Failure> {
    let Some(types) = query::text(raw, "types")? else {
        return Ok(Vec::new());
    };
    let types: Vec<_> = types.split(',').map(str::to_owned).collect();
    if types.len() > MAX_TYPES {
        let message = format!("at most {MAX_TYPES} of them");
        return Err(refuse("types", FieldCode::Length, &message));
    }
    Ok(types)
}

/// Turns the messages of identity-svc into chunks, until they or the credentials end, or the process
/// stops. A client takes a chunk before the next is made, and the server ends connections whose client
/// takes nothing for 30 seconds.
fn chunks(
    messages: Streaming<WatchEventsResponse>,
    guard: StreamGuard,
) -> impl Stream<Item = Result<Bytes, Infallible>> + Send {
    let ticks = |period| {
        let mut ticks = interval_at(Instant::now() + period, period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks
    };
    let state = (messages, guard, ticks(HEARTBEAT), ticks(CHECK_INTERVAL));
    stream::unfold(
        state,
        |(mut messages, guard, mut heartbeats, mut checks)| async move {
            let chunk = loop {
                tokio::select! {
                    biased;
                    () = guard.stopped() => return None,
                    _ = checks.tick() => if !guard.still_admits().await {
                        return None;
                    },
                    message = messages.message() => match message {
                        Ok(Some(message)) => break chunk(message),
                        Ok(None) => return None,
                        Err(status) => {
                            tracing::debug!(%status, "events: stream ended");
                            return None;
                        }
                    },
                    _ = heartbeats.tick() => break Bytes::from_static(b":\n\n"),
                }
            };
            heartbeats.reset();
            Some((Ok(chunk), (messages, guard, heartbeats, checks)))
        },
    )
}

/// Writes a message: its events, or a comment without any.
fn chunk(message: WatchEventsResponse) -> Bytes {
    let mut text = String::new();
    if message.reset {
        // The empty id makes a browser forget the one that is not known.
        text.push_str("id\nevent: reset\ndata: {}\n\n");
    }
    for event in message.events {
        let PublicEvent { id, payload, .. } = event;
        let lines = [
            "id: ",
            &id,
            "\nevent: ",
            &event.r#type,
            "\ndata: ",
            &payload,
            "\n\n",
        ];
        text.extend(lines);
    }
    if text.is_empty() {
        text.push_str(":\n\n");
    }
    text.into()
}
