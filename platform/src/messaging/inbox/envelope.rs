//! What the headers of an event say.

use std::str::FromStr;

use async_nats::{HeaderMap, Message};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// What comes with an event's body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// Of the event; the same on every delivery and replay.
    pub id: Uuid,
    /// `guerdon.orders.v1.OrderPaid`
    pub event_type: String,
    /// The aggregate: `order/<id>`.
    pub subject: String,
    /// The aggregate's version, counted from 1.
    pub version: i64,
    /// The trace that published it.
    pub(super) traceparent: Option<String>,
}

impl Envelope {
    /// Reads the headers; an error says what is wrong with them.
    pub(super) fn read(message: &Message) -> Result<Self, String> {
        let headers = message.headers.as_ref().ok_or("no headers")?;
        Ok(Self {
            id: parse(headers, "ce-id")?,
            event_type: parse(headers, "ce-type")?,
            subject: parse(headers, "ce-subject")?,
            version: parse(headers, "ce-sequence")?,
            traceparent: get(headers, "traceparent").map(str::to_owned),
        })
    }
}

/// The event's id, or for a message without a usable one an id made from its place in the stream,
/// so that it can be parked under a name of its own.
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
