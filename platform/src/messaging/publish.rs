//! Publishing of outbox rows as CloudEvents messages (binary mode), in order.

use std::{collections::HashMap, error::Error as _, time::Duration};

use async_nats::{
    HeaderMap,
    header::{HeaderName, NATS_MESSAGE_ID},
    jetstream::{
        self, Context, ErrorCode,
        context::{PublishError, PublishErrorKind},
        message::PublishMessage,
    },
};
use bytes::Bytes;
use chrono::{DateTime, SecondsFormat, Utc};
use futures::{StreamExt as _, stream};
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use super::batch;
use crate::pg::Schema;

/// Limit for all acks of a batch together: the client's own ack timeout is unreliable
/// (nats-io/nats.rs#1558).
const ACK_TIMEOUT: Duration = Duration::from_secs(4);
/// Aggregates whose events are published concurrently.
const CONCURRENCY: usize = 256;

/// A row of `outbox`.
#[derive(Debug, sqlx::FromRow)]
pub(super) struct Row {
    pub(super) id: Uuid,
    pub(super) position: i64,
    event_type: String,
    aggregate_kind: String,
    aggregate_id: Uuid,
    aggregate_version: i64,
    #[sqlx(try_from = "Vec<u8>")]
    body: Bytes,
    traceparent: Option<String>,
    created_at: DateTime<Utc>,
}

impl Row {
    /// The columns for `select`.
    pub(super) const COLUMNS: &str = "id, position, event_type, aggregate_kind, aggregate_id, \
                                      aggregate_version, body, traceparent, created_at";

    /// Returns the name of the event, `OrderPaid`.
    pub(super) fn event(&self) -> &str {
        let name = self.event_type.rsplit('.').next();
        name.unwrap_or(&self.event_type)
    }

    /// Returns the message that JetStream stores.
    pub(super) fn message(&self, context: Schema, replay_id: Option<Uuid>) -> batch::Message {
        let mut headers = HeaderMap::new();
        let mut set = |name, value: String| headers.insert(HeaderName::from_static(name), value);
        set("ce-specversion", "1.0".to_owned());
        set("ce-id", self.id.to_string());
        set("ce-type", self.event_type.clone());
        set("ce-source", format!("/guerdon/{}", context.name()));
        let subject = format!("{}/{}", self.aggregate_kind, self.aggregate_id);
        set("ce-subject", subject);
        // CloudEvents' sequence extension: the aggregate's version.
        set("ce-sequence", self.aggregate_version.to_string());
        let time = self.created_at.to_rfc3339_opts(SecondsFormat::Millis, true);
        set("ce-time", time);
        set("content-type", "application/protobuf".to_owned());
        if let Some(traceparent) = &self.traceparent {
            set("traceparent", traceparent.clone());
        }
        let message_id = match replay_id {
            Some(replay_id) => format!("{}:{replay_id}", self.id),
            None => self.id.to_string(),
        };
        headers.insert(NATS_MESSAGE_ID, message_id);
        batch::Message {
            subject: self.event_type.clone(),
            headers,
            payload: self.body.clone(),
        }
    }
}

/// The result of publishing a batch.
#[derive(Debug, Default)]
pub(super) struct Published {
    /// Positions of the acknowledged rows.
    pub(super) positions: Vec<i64>,
    /// The rows that JetStream refuses.
    pub(super) refused: Vec<Refused>,
    /// One of the errors of the other rows.
    pub(super) error: Option<async_nats::Error>,
}

/// A row that JetStream refuses at every attempt.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) row: Row,
    pub(super) reason: String,
}

/// Returns whether JetStream refuses the message itself, because it is larger than the server or the
/// stream allows. Other errors are about the stream or the server, such as a full disk, and may end.
pub(super) fn is_refusal(error: &PublishError) -> bool {
    const TOO_LARGE: [ErrorCode; 2] = [
        ErrorCode::STREAM_MESSAGE_EXCEEDS_MAXIMUM,
        ErrorCode::STREAM_HEADER_EXCEEDS_MAXIMUM,
    ];
    let response: Option<&jetstream::Error> =
        error.source().and_then(|source| source.downcast_ref());
    error.kind() == PublishErrorKind::MaxPayloadExceeded
        || response.is_some_and(|response| TOO_LARGE.contains(&response.error_code()))
}

/// Publishes rows in the order of their positions, which within an aggregate is the order of
/// versions: as a batch, or one by one if JetStream rejects the batch. A `replay_id` makes message
/// ids unique, so that JetStream does not drop replayed events as duplicates; a replay goes on after an
/// event that JetStream refuses, whose order the relay has given up.
pub(super) async fn in_order(
    js: &Context,
    context: Schema,
    rows: Vec<Row>,
    replay_id: Option<Uuid>,
) -> Published {
    if rows.len() > 1 {
        let messages = rows
            .iter()
            .map(|row| row.message(context, replay_id))
            .collect();
        match batch::publish(js, messages, ACK_TIMEOUT).await {
            Ok(()) => {
                return Published {
                    positions: rows.iter().map(|row| row.position).collect(),
                    ..Published::default()
                };
            }
            Err(batch::Error::Unavailable(error)) => {
                return Published {
                    error: Some(error),
                    ..Published::default()
                };
            }
            // One is a duplicate or can't be published; the others are published nevertheless.
            Err(error) => {
                tracing::debug!(%error, "outbox: batch rejected, publishing events one by one");
            }
        }
    }
    one_by_one(js, context, rows, replay_id).await
}

/// Publishes aggregates concurrently, and the events of each in order of versions: each event after
/// the previous one is acknowledged, and none after a failure.
async fn one_by_one(
    js: &Context,
    context: Schema,
    rows: Vec<Row>,
    replay_id: Option<Uuid>,
) -> Published {
    let deadline = Instant::now() + ACK_TIMEOUT;
    let mut published = Published::default();
    let mut chains = stream::iter(by_aggregate(rows))
        .map(|chain| publish_chain(js, context, chain, replay_id, deadline))
        .buffer_unordered(CONCURRENCY);
    while let Some(chain) = chains.next().await {
        published.positions.extend(chain.positions);
        published.refused.extend(chain.refused);
        published.error = chain.error.or(published.error);
    }
    published
}

/// Groups rows by aggregate, in order of their first rows.
fn by_aggregate(rows: Vec<Row>) -> Vec<Vec<Row>> {
    let mut chains: Vec<Vec<Row>> = Vec::new();
    let mut indexes: HashMap<(String, Uuid), usize> = HashMap::new();
    for row in rows {
        let aggregate = (row.aggregate_kind.clone(), row.aggregate_id);
        let index = *indexes.entry(aggregate).or_insert(chains.len());
        match chains.get_mut(index) {
            Some(chain) => chain.push(row),
            None => chains.push(vec![row]),
        }
    }
    for chain in &mut chains {
        chain.sort_by_key(|row| row.aggregate_version);
    }
    chains
}

async fn publish_chain(
    js: &Context,
    context: Schema,
    chain: Vec<Row>,
    replay_id: Option<Uuid>,
    deadline: Instant,
) -> Published {
    let mut published = Published::default();
    for row in chain {
        let position = row.position;
        match timeout_at(deadline, publish(js, context, &row, replay_id)).await {
            Ok(Ok(())) => published.positions.push(position),
            Ok(Err(error)) if is_refusal(&error) => {
                let reason = with_source(&error);
                published.refused.push(Refused { row, reason });
                if replay_id.is_none() {
                    break;
                }
            }
            Ok(Err(error)) => {
                published.error = Some(error.into());
                break;
            }
            Err(elapsed) => {
                published.error = Some(elapsed.into());
                break;
            }
        }
    }
    published
}

async fn publish(
    js: &Context,
    context: Schema,
    row: &Row,
    replay_id: Option<Uuid>,
) -> Result<(), PublishError> {
    let message = row.message(context, replay_id);
    let publish = PublishMessage::build()
        .headers(message.headers)
        .payload(message.payload);
    js.send_publish(message.subject, publish).await?.await?;
    Ok(())
}

fn with_source(error: &PublishError) -> String {
    error
        .source()
        .map_or_else(|| error.to_string(), |source| format!("{error}: {source}"))
}
