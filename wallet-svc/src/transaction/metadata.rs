//! The service's own JSON object on a transaction, kept as text so that numbers stay as written.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

/// A JSON object as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metadata(String);

impl Default for Metadata {
    fn default() -> Self {
        Self("{}".to_owned())
    }
}

impl Metadata {
    /// Text that this service wrote before.
    pub const fn stored(text: String) -> Self {
        Self(text)
    }

    /// Text of a caller: `None` unless it is a JSON object.
    pub fn parse(text: &str) -> Option<Self> {
        let object: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
        let with = |metadata: Self, (key, value): (&String, &&RawValue)| {
            metadata.with_raw(key, value.get())
        };
        Some(object.iter().fold(Self::default(), with))
    }

    /// With one more entry, whose value is JSON text. The key is not there yet.
    #[must_use]
    pub fn with_raw(self, key: &str, json: &str) -> Self {
        let key = serde_json::Value::from(key);
        let mut text = self.0;
        text.pop();
        let comma = if text.len() > 1 { "," } else { "" };
        Self(format!("{text}{comma}{key}:{json}}}"))
    }

    /// With one more entry that is a text.
    #[must_use]
    pub fn with_text(self, key: &str, value: &str) -> Self {
        self.with_raw(key, &serde_json::Value::from(value).to_string())
    }

    /// The order it speaks of.
    pub fn order_id(&self) -> Option<String> {
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

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_without_touching_what_is_there() {
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
