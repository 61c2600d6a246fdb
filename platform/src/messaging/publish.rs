//! One outbox row as a CloudEvents message (binary mode), and a batch of them in order.

use std::{collections::HashMap, time::Duration};

use async_nats::{
    HeaderMap,
    header::{HeaderName, NATS_MESSAGE_ID},
    jetstream::{Context, context::PublishError, message::PublishMessage},
};
use bytes::Bytes;
use chrono::{DateTime, SecondsFormat, Utc};
use futures::{StreamExt as _, stream};
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use super::batch;
use crate::pg::Schema;

/// All acks of a batch are awaited for this long together: the client's own ack timeout is not to
/// be relied on (nats-io/nats.rs#1558).
const ACKS_WITHIN: Duration = Duration::from_secs(4);
/// Aggregates whose events are under way at the same time.
const CONCURRENCY: usize = 256;

/// An outbox row as the relay reads it.
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
    /// The columns, in SQL.
    pub(super) const COLUMNS: &str = "id, position, event_type, aggregate_kind, aggregate_id, \
                                      aggregate_version, body, traceparent, created_at";

    fn message(&self, context: Schema, run: Option<Uuid>) -> batch::Message {
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
        let message_id = match run {
            Some(run) => format!("{}:{run}", self.id),
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

/// What became of a batch.
#[derive(Debug, Default)]
pub(super) struct Published {
    /// Acknowledged rows.
    pub(super) positions: Vec<i64>,
    /// One of the errors that kept the others back.
    pub(super) error: Option<async_nats::Error>,
}

/// Publishes rows in the order of their positions, which for the events of an aggregate is that of
/// versions: together, or where that is refused, one by one. `run` sets a replay apart from what
/// JetStream remembers as published.
pub(super) async fn in_order(
    js: &Context,
    context: Schema,
    rows: Vec<Row>,
    run: Option<Uuid>,
) -> Published {
    if rows.len() > 1 {
        let messages = rows.iter().map(|row| row.message(context, run)).collect();
        match batch::publish(js, messages, ACKS_WITHIN).await {
            Ok(()) => {
                return Published {
                    positions: rows.iter().map(|row| row.position).collect(),
                    error: None,
                };
            }
            Err(batch::Error::Away(error)) => {
                return Published {
                    positions: Vec::new(),
                    error: Some(error),
                };
            }
            // A duplicate, or one that can't be published: the others are to go all the same.
            Err(refused) => tracing::debug!(%refused, "publishing events one by one"),
        }
    }
    one_by_one(js, context, rows, run).await
}

/// Aggregates side by side, and the events of each in order of versions: the next leaves when the
/// one before is acknowledged, and none follows a failure.
async fn one_by_one(js: &Context, context: Schema, rows: Vec<Row>, run: Option<Uuid>) -> Published {
    let deadline = Instant::now() + ACKS_WITHIN;
    let mut published = Published::default();
    let mut chains = stream::iter(by_aggregate(rows))
        .map(|chain| publish_chain(js, context, chain, run, deadline))
        .buffer_unordered(CONCURRENCY);
    while let Some(chain) = chains.next().await {
        published.positions.extend(chain.positions);
        published.error = chain.error.or(published.error);
    }
    published
}

/// Rows grouped by aggregate, groups in order of their first row.
fn by_aggregate(rows: Vec<Row>) -> Vec<Vec<Row>> {
    let mut chains: Vec<Vec<Row>> = Vec::new();
    let mut places: HashMap<(String, Uuid), usize> = HashMap::new();
    for row in rows {
        let aggregate = (row.aggregate_kind.clone(), row.aggregate_id);
        let place = *places.entry(aggregate).or_insert(chains.len());
        match chains.get_mut(place) {
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
    run: Option<Uuid>,
    deadline: Instant,
) -> Published {
    let mut published = Published::default();
    for row in chain {
        let position = row.position;
        match timeout_at(deadline, publish(js, context, row, run)).await {
            Ok(Ok(())) => published.positions.push(position),
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
    row: Row,
    run: Option<Uuid>,
) -> Result<(), PublishError> {
    let message = row.message(context, run);
    let publish = PublishMessage::build()
        .headers(message.headers)
        .payload(message.payload);
    js.send_publish(message.subject, publish).await?.await?;
    Ok(())
}
