//! Public events, and the rows that they are stored in.

use chrono::{DateTime, SecondsFormat, Utc};
use uuid::Uuid;

/// A public event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicEvent {
    /// Made from that of the event it is made from, so that a redelivery is the same public event.
    pub id: Uuid,
    /// As clients are told: `store.order.paid`.
    pub event_type: String,
    /// A JSON object.
    pub data: String,
    /// When it happened.
    pub occurred_at: DateTime<Utc>,
}

/// A row of `public_events`: an event, and the one that it implies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRow {
    /// As in [`PublicEvent`].
    pub id: Uuid,
    /// As in [`PublicEvent`].
    pub event_type: String,
    /// Type of the event that this one implies: it comes before, with the id before this one, and has the same data.
    pub before_type: Option<String>,
    /// A JSON object.
    pub data: String,
    /// When it happened.
    pub occurred_at: DateTime<Utc>,
}

impl EventRow {
    /// Returns ids and types of its events, in their order.
    pub(crate) fn events(&self) -> impl Iterator<Item = (Uuid, &str)> {
        let before_id = Uuid::from_u128(self.id.as_u128().wrapping_sub(1));
        let before = self
            .before_type
            .as_deref()
            .map(|before| (before_id, before));
        before.into_iter().chain([(self.id, &*self.event_type)])
    }

    /// Returns the id of the row that an event of this id is in, if it is one that comes before another.
    pub(super) fn id_after(event_id: Uuid) -> Uuid {
        Uuid::from_u128(event_id.as_u128().wrapping_add(1))
    }
}

impl PublicEvent {
    /// Returns the payload as clients get it, `{"type", "timestamp", "data"}` as Standard Webhooks
    /// recommends: the same bytes at each attempt.
    pub(crate) fn payload(&self) -> String {
        let time = self
            .occurred_at
            .to_rfc3339_opts(SecondsFormat::Millis, true);
        format!(
            r#"{{"type":"{}","timestamp":"{time}","data":{}}}"#,
            self.event_type, self.data
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_payload_is_json() {
        let event = PublicEvent {
            id: Uuid::nil(),
            event_type: "store.order.paid".to_owned(),
            data: r#"{"orderId":"o"}"#.to_owned(),
            occurred_at: "2026-01-31T10:00:00.5Z".parse().unwrap(),
        };
        let payload: serde_json::Value = serde_json::from_str(&event.payload()).unwrap();
        let expected = serde_json::json!({"type": "store.order.paid",
            "timestamp": "2026-01-31T10:00:00.500Z", "data": {"orderId": "o"}});
        assert_eq!(payload, expected);
    }
}
