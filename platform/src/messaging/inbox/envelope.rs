//! The envelope of an event: its CloudEvents headers.

use std::str::FromStr;

use async_nats::{HeaderMap, Message};
use chrono::{DateTime, Utc};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// The headers of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// Id of the event; the same in every delivery and replay.
    pub id: Uuid,
    /// Type of the event: `guerdon.orders.v1.OrderPaid`.
    pub event_type: String,
    /// Kind and id of the aggregate: `order/<id>`.
    pub subject: String,
    /// Version of the aggregate, from 1.
    pub version: i64,
    /// Time of the change.
    pub time: DateTime<Utc>,
    pub(super) traceparent: Option<String>,
}

impl Envelope {
    /// Parses the headers; the error names the one at fault.
    pub(super) fn read(message: &Message) -> Result<Self, String> {
        let headers = message.headers.as_ref().ok_or("no headers")?;
        Ok(Self {
            id: parse(headers, "ce-id")?,
            event_type: parse(headers, "ce-type")?,
            subject: parse(headers, "ce-subject")?,
            version: parse(headers, "ce-sequence")?,
            time: parse(headers, "ce-time")?,
            traceparent: get(headers, "traceparent").map(str::to_owned),
        })
    }
}

/// Returns the event's id, or for a message without a valid id one made from its sequence in the
/// stream, under which it can be parked.
pub(super) fn id_of(message: &Message, stream: &str, sequence: u64) -> Uuid {
    let headers = message.headers.as_ref();
    headers
        .and_then(|headers| parse(headers, "ce-id").ok())
        .unwrap_or_else(|| {
            let hash = Sha256::digest(format!("{stream}/{sequence}"));
            let mut bytes = [0; 16];
            bytes.copy_from_slice(&hash[..16]);
            uuid::Builder::from_custom_bytes(bytes).into_uuid()
        })
}

fn get<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).map(async_nats::HeaderValue::as_str)
}

fn parse<T: FromStr>(headers: &HeaderMap, name: &str) -> Result<T, String> {
    let text = get(headers, name).ok_or_else(|| format!("no header {name}"))?;
    text.parse()
        .map_err(|_malformed| format!("header {name} is malformed"))
}
