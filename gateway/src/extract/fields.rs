//! Field types of request bodies that serde has no form for.

use platform::error::FieldCode;
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::value::RawValue;

use super::json::coded;

/// Most bytes of `customData`.
pub(crate) const MAX_CUSTOM_DATA: usize = 16 * 1024;

/// A JSON object kept as the text it was written in.
#[derive(Debug, Clone)]
pub(crate) struct JsonObject(pub(crate) String);

/// `customData`: a [`JsonObject`] of at most [`MAX_CUSTOM_DATA`] bytes.
#[derive(Debug, Clone)]
pub(crate) struct CustomData(pub(crate) String);

/// Any JSON, kept as the text it was written in.
#[derive(Debug, Clone)]
pub(crate) struct JsonText(pub(crate) String);

impl<'de> Deserialize<'de> for JsonText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(|raw| Self(raw.get().to_owned()))
    }
}

impl<'de> Deserialize<'de> for JsonObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let JsonText(text) = JsonText::deserialize(deserializer)?;
        if text.starts_with('{') {
            Ok(Self(text))
        } else {
            Err(D::Error::custom(coded(
                FieldCode::Type,
                "must be a JSON object",
            )))
        }
    }
}

impl<'de> Deserialize<'de> for CustomData {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let JsonObject(text) = JsonObject::deserialize(deserializer)?;
        if text.len() <= MAX_CUSTOM_DATA {
            Ok(Self(text))
        } else {
            let message = format!("at most {MAX_CUSTOM_DATA} bytes");
            Err(D::Error::custom(coded(FieldCode::Length, &message)))
        }
    }
}
