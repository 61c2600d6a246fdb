//! The service's JSON object on a transaction, as text, which keeps numbers as written.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

/// A JSON object as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Metadata(String);

impl Default for Metadata {
    fn default() -> Self {
        Self("{}".to_owned())
    }
}

impl Metadata {
    /// Wraps a text that the database holds.
    pub(crate) const fn stored(text: String) -> Self {
        Self(text)
    }

    /// Parses a text; `None` unless it is a JSON object.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let object: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
        Some(
            object
                .iter()
                .fold(Self::default(), |metadata, (key, value)| {
                    metadata.with_raw(key, value.get())
                }),
        )
    }

    /// Adds an entry whose value is JSON. The key must be new.
    #[must_use]
    pub(crate) fn with_raw(self, key: &str, json: &str) -> Self {
        let key = serde_json::Value::from(key);
        let mut text = self.0;
        text.pop();
        let comma = if text.len() > 1 { "," } else { "" };
        Self(format!("{text}{comma}{key}:{json}}}"))
    }

    /// Adds an entry whose value is a text. The key must be new.
    #[must_use]
    pub(crate) fn with_text(self, key: &str, value: &str) -> Self {
        self.with_raw(key, &serde_json::Value::from(value).to_string())
    }

    /// Returns the value of `orderId`.
    pub(crate) fn order_id(&self) -> Option<String> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct OfOrder {
            order_id: Option<String>,
        }
        if !self.0.contains("orderId") {
            return None;
        }
        serde_json::from_str::<OfOrder>(&self.0).ok()?.order_id
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_entries_leave_the_others_as_written() {
        let metadata = Metadata::parse(r#" {"orderId": "o-1", "n": 1.10e400} "#).unwrap();
        let metadata = metadata
            .with_text("failReason", "a \"b\"")
            .with_raw("data", "{ }");
        assert_eq!(
            metadata.as_str(),
            r#"{"n":1.10e400,"orderId":"o-1","failReason":"a \"b\"","data":{ }}"#
        );
        assert_eq!(metadata.order_id().as_deref(), Some("o-1"));
        assert_eq!(
            Metadata::default().with_raw("a", "1").as_str(),
            r#"{"a":1}"#
        );
        assert!(Metadata::parse("[]").is_none() && Metadata::parse("").is_none());
        assert_eq!(Metadata::default().order_id(), None);
    }
}
