//! What the DTOs of all resources are made of.

use chrono::{DateTime, SecondsFormat};
use prost_types::{FieldMask, Timestamp};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use platform::{
    error::{Failure, FieldCode, Violations},
    patch::Patch,
};

/// A timestamp in ISO 8601, UTC, with milliseconds.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
#[schema(value_type = String, format = DateTime, examples("2026-01-31T10:00:00.000Z"))]
pub(crate) struct Time(String);

impl Time {
    /// The time of a message; absent stays absent.
    pub(crate) fn of(timestamp: Option<Timestamp>) -> Option<Self> {
        let Timestamp { seconds, nanos } = timestamp?;
        let time = DateTime::from_timestamp(seconds, nanos.unsigned_abs())?;
        Some(Self(time.to_rfc3339_opts(SecondsFormat::Millis, true)))
    }
}

/// A JSON object that is answered as the text it is stored as.
#[derive(Debug, Clone, utoipa::ToSchema)]
#[schema(value_type = Object)]
pub(crate) struct Raw(Box<RawValue>);

impl Raw {
    /// The object; empty text is an empty one.
    pub(crate) fn of(text: String) -> Self {
        let empty = || RawValue::from_string("{}".to_owned()).expect("an object");
        Self(RawValue::from_string(text).unwrap_or_else(|_| empty()))
    }
}

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// The public word of a protobuf enum value: `text("ORDER_STATUS_DRAFT", "ORDER_STATUS_")` is `draft`.
pub(crate) fn text(value: &str, prefix: &str) -> String {
    value
        .strip_prefix(prefix)
        .unwrap_or(value)
        .to_ascii_lowercase()
}

/// Where an item goes in the order of its list.
#[derive(Debug, serde::Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Reorder {
    /// What it goes right before; without one it goes last.
    pub(crate) subsequent_id: Option<String>,
}

/// Collects the field mask of an update, refusing `null` where the field must keep a value.
#[derive(Debug, Default)]
pub(crate) struct Mask {
    paths: Vec<String>,
    violations: Violations,
}

impl Mask {
    /// A field that `null` clears.
    pub(crate) fn nullable<T>(&mut self, path: &str, value: Patch<T>) -> Option<T> {
        value.into_wire(path, &mut self.paths)
    }

    /// A field that must keep a value; `field` is its public name.
    pub(crate) fn required<T>(&mut self, path: &str, field: &str, value: Patch<T>) -> Option<T> {
        if matches!(value, Patch::Null) {
            self.violations
                .add(field, FieldCode::Required, "cannot be cleared");
        }
        value.into_wire(path, &mut self.paths)
    }

    /// The mask, unless a field was refused.
    pub(crate) fn finish(self) -> Result<Option<FieldMask>, Failure> {
        self.violations.finish()?;
        Ok(Some(FieldMask { paths: self.paths }))
    }
}
