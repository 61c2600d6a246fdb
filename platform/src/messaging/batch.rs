//! Atomic batch publish: JetStream stores all messages or none, with one write to disk. Protocol:
//! [ADR-50](https://github.com/nats-io/nats-architecture-and-design/blob/main/adr/ADR-50.md),
//! supported by servers from 2.12.
//!
//! Own code, because the client library's extension rejects messages that carry a `Nats-Msg-Id`.

use std::time::Duration;

use async_nats::{
    Client, HeaderMap, Request,
    client::{PublishErrorKind, RequestErrorKind},
    jetstream::Context,
};
use bytes::Bytes;
use serde::Deserialize;
use uuid::Uuid;

/// A message of a batch.
pub(super) struct Message {
    pub(super) subject: String,
    pub(super) headers: HeaderMap,
    pub(super) payload: Bytes,
}

/// Why a batch is not known to be stored.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// None of it is stored, or the server does not support batches: retry the messages one by one.
    #[error("the batch is rejected: {0}")]
    Rejected(String),
    /// NATS is unavailable, or the ack is lost.
    #[error(transparent)]
    Unavailable(async_nats::Error),
}

/// The server's response to the last message.
#[derive(Deserialize)]
struct PublishAck {
    error: Option<serde_json::Value>,
    #[serde(default)]
    batch: String,
    #[serde(default)]
    count: usize,
}

/// Publishes the messages; they are stored in this order without others between them.
pub(super) async fn publish(
    js: &Context,
    messages: Vec<Message>,
    ack_timeout: Duration,
) -> Result<(), Error> {
    #[expect(
        clippy::disallowed_methods,
        reason = "identifies the batch to JetStream and appears in no data"
    )]
    let id = Uuid::new_v4().to_string();
    let (client, size) = (js.client(), messages.len());
    for (number, mut message) in (1..).zip(messages) {
        message.headers.insert("Nats-Batch-Id", id.as_str());
        message
            .headers
            .insert("Nats-Batch-Sequence", number.to_string());
        if number == size {
            let ack = commit(&client, message, ack_timeout).await?;
            return parse_ack(&ack, &id, size);
        }
        client
            .publish_with_headers(message.subject, message.headers, message.payload)
            .await
            .map_err(|error| match error.kind() {
                PublishErrorKind::Send => Error::Unavailable(error.into()),
                _ => Error::Rejected(error.to_string()),
            })?;
    }
    Ok(())
}

/// Publishes the last message, which commits the batch, and returns the ack.
async fn commit(
    client: &Client,
    mut message: Message,
    ack_timeout: Duration,
) -> Result<Bytes, Error> {
    message.headers.insert("Nats-Batch-Commit", "1");
    let request = Request::new()
        .headers(message.headers)
        .payload(message.payload)
        .timeout(Some(ack_timeout));
    match client.send_request(message.subject, request).await {
        Ok(ack) => Ok(ack.payload),
        Err(error) => Err(match error.kind() {
            RequestErrorKind::TimedOut | RequestErrorKind::Other => {
                Error::Unavailable(error.into())
            }
            _ => Error::Rejected(error.to_string()),
        }),
    }
}

fn parse_ack(payload: &[u8], id: &str, size: usize) -> Result<(), Error> {
    let rejected = |reason: &dyn ToString| Err(Error::Rejected(reason.to_string()));
    match serde_json::from_slice::<PublishAck>(payload) {
        Ok(ack) => match ack.error {
            Some(error) => rejected(&error),
            None if ack.batch == id && ack.count == size => Ok(()),
            None => rejected(&"the server does not support batches"),
        },
        Err(error) => rejected(&error),
    }
}
