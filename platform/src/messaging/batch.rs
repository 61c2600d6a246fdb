//! Many messages stored by JetStream as one: all of them or none, for the price of one write to disk.
//! The protocol is [ADR-50](https://github.com/nats-io/nats-architecture-and-design/blob/main/adr/ADR-50.md),
//! which servers speak from 2.12.
//!
//! Own code, because the client library's extension refuses messages that carry a `Nats-Msg-Id`.

use std::time::Duration;

use async_nats::{
    HeaderMap, Request,
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
    /// None of it is stored, or the server knows no batches: its messages may go one by one.
    #[error("the batch is refused: {0}")]
    Refused(String),
    /// NATS is away, or the answer is lost.
    #[error(transparent)]
    Away(async_nats::Error),
}

/// What the server says to the last message.
#[derive(Deserialize)]
struct Answer {
    error: Option<serde_json::Value>,
    #[serde(default)]
    batch: String,
    #[serde(default)]
    count: usize,
}

/// Publishes these messages, which are stored in this order and without others between them.
pub(super) async fn publish(
    js: &Context,
    messages: Vec<Message>,
    answer_within: Duration,
) -> Result<(), Error> {
    #[expect(
        clippy::disallowed_methods,
        reason = "sets this try apart for JetStream and appears in no data"
    )]
    let id = Uuid::new_v4().to_string();
    let (client, size) = (js.client(), messages.len());
    for (number, message) in (1..).zip(messages) {
        let mut headers = message.headers;
        headers.insert("Nats-Batch-Id", id.as_str());
        headers.insert("Nats-Batch-Sequence", number.to_string());
        if number < size {
            client
                .publish_with_headers(message.subject, headers, message.payload)
                .await
                .map_err(|error| match error.kind() {
                    PublishErrorKind::Send => Error::Away(error.into()),
                    _ => Error::Refused(error.to_string()),
                })?;
            continue;
        }
        headers.insert("Nats-Batch-Commit", "1");
        let commit = Request::new()
            .headers(headers)
            .payload(message.payload)
            .timeout(Some(answer_within));
        let answer = client.send_request(message.subject, commit).await;
        let answer = answer.map_err(|error| match error.kind() {
            RequestErrorKind::TimedOut | RequestErrorKind::Other => Error::Away(error.into()),
            _ => Error::Refused(error.to_string()),
        })?;
        return judge(&answer.payload, &id, size);
    }
    Ok(())
}

fn judge(answer: &[u8], id: &str, size: usize) -> Result<(), Error> {
    let refused = |why: &dyn ToString| Err(Error::Refused(why.to_string()));
    match serde_json::from_slice::<Answer>(answer) {
        Ok(answer) => match answer.error {
            Some(error) => refused(&error),
            None if answer.batch == id && answer.count == size => Ok(()),
            None => refused(&"the server knows no batches"),
        },
        Err(error) => refused(&error),
    }
}
