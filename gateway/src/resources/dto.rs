//! The parts of DTOs that resources share.

use chrono::{DateTime, SecondsFormat};
use prost_types::{FieldMask, Timestamp};
use serde::{Serialize, Serializer};
use serde_json::{Value, value::RawValue};

use platform::patch::Patch;

use crate::extract::{Change, Id};

/// A timestamp in ISO 8601, UTC, with milliseconds.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
#[schema(value_type = String, format = DateTime, examples("2026-01-31T10:00:00.000Z"))]
pub(crate) struct Time(String);

impl Time {
    /// Converts the time of a message.
    pub(crate) fn of(timestamp: Option<Timestamp>) -> Option<Self> {
        let Timestamp { seconds, nanos } = timestamp?;
        let time = DateTime::from_timestamp(seconds, nanos.unsigned_abs())?;
        Some(Self(time.to_rfc3339_opts(SecondsFormat::Millis, true)))
    }

    /// Returns the text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns the milliseconds of a time, which are the version of what has no other.
pub(crate) fn millis(time: Option<Timestamp>) -> i64 {
    let millis = |time: Timestamp| time.seconds * 1_000 + i64::from(time.nanos) / 1_000_000;
    time.map_or(0, millis)
}

/// A JSON object, sent as the text it is stored as.
#[derive(Debug, Clone, utoipa::ToSchema)]
#[schema(value_type = Object)]
pub(crate) struct Raw(Box<RawValue>);

impl Raw {
    /// Converts the text of an object; empty text is `{}`.
    pub(crate) fn of(text: String) -> Self {
        let empty = || RawValue::from_string("{}".to_owned()).expect("an object");
        Self(RawValue::from_string(text).unwrap_or_else(|_| empty()))
    }

    /// Converts the JSON of a text or a list; what is none is taken for a text.
    pub(crate) fn text_or_list(json: String) -> Self {
        let is_either = json.starts_with(['"', '[']);
        let raw = is_either.then(|| RawValue::from_string(json.clone()).ok());
        let as_text = || RawValue::from_string(Value::String(json).to_string()).expect("a string");
        Self(raw.flatten().unwrap_or_else(as_text))
    }
}

impl Raw {
    /// Returns a JSON string without its quotes, a list with commas between its items, and anything else as
    /// it is.
    pub(crate) fn plain_text(&self) -> String {
        match serde_json::from_str(self.0.get()) {
            Ok(Value::String(text)) => text,
            Ok(Value::Array(items)) => {
                let items = items.iter().map(|item| match item {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                });
                items.collect::<Vec<_>>().join(", ")
            }
            _ => self.0.get().to_owned(),
        }
    }
}

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// Converts a protobuf enum value: `text("ORDER_STATUS_DRAFT", "ORDER_STATUS_")` is `draft`.
pub(crate) fn text(value: &str, prefix: &str) -> String {
    value
        .strip_prefix(prefix)
        .unwrap_or(value)
        .to_ascii_lowercase()
}

/// Converts a text that is empty where there is none: the name of a product without one, the ids of a
/// dry run.
pub(crate) fn not_empty(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

/// A new position in the sort order.
#[derive(Debug, serde::Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Reorder {
    /// The item to move right before; by default the item moves to the end.
    pub(crate) subsequent_id: Option<Id>,
}

/// Collects the field mask of an update, with the values in their form of the wire.
#[derive(Debug, Default)]
pub(crate) struct Mask(Vec<String>);

impl Mask {
    /// Adds a field that `null` clears.
    pub(crate) fn nullable<T: Into<W>, W>(&mut self, path: &str, value: Patch<T>) -> Option<W> {
        value.into_wire(path, &mut self.0).map(Into::into)
    }

    /// Adds a field that keeps a value.
    pub(crate) fn required<T: Into<W>, W>(&mut self, path: &str, value: Change<T>) -> Option<W> {
        let kept = value.0.map_or(Patch::Absent, Patch::Set);
        self.nullable(path, kept)
    }

    /// Returns the mask.
    pub(crate) fn finish(self) -> FieldMask {
        FieldMask { paths: self.0 }
    }
}
