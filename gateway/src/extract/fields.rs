//! Field types of request bodies that serde has no form for.

use platform::error::FieldCode;
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::value::RawValue;

use super::json::{check_nested, coded};

/// Most bytes of `customData`.
pub(crate) const MAX_CUSTOM_DATA: usize = 16 * 1024;

/// A JSON object kept as the text it was written in.
#[derive(Debug, Clone)]
pub(crate) struct JsonObject(pub(crate) String);

/// `customData`: a [`JsonObject`] of at most [`MAX_CUSTOM_DATA`] bytes.
#[derive(Debug, Clone)]
pub(crate) struct CustomData(pub(crate) String);

/// [`CustomData`], also as a string that holds it.
#[derive(Debug, Clone)]
pub(crate) struct CustomDataOrText(pub(crate) String);

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
            Err(D::Error::custom(no_object()))
        }
    }
}

impl<'de> Deserialize<'de> for CustomData {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let JsonObject(text) = JsonObject::deserialize(deserializer)?;
        within_limit(text).map(Self).map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for CustomDataOrText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let JsonText(text) = JsonText::deserialize(deserializer)?;
        let object = match text.bytes().next() {
            Some(b'{') => text,
            Some(b'"') => nested_object(&text).map_err(D::Error::custom)?,
            _ => return Err(D::Error::custom(no_object())),
        };
        within_limit(object).map(Self).map_err(D::Error::custom)
    }
}

/// Returns the object that a JSON string holds. The scanner of the body has not looked inside.
fn nested_object(string: &str) -> Result<String, String> {
    let text: String = serde_json::from_str(string).map_err(|_| no_object())?;
    match check_nested(&text) {
        Ok(()) => Ok(text),
        Err(failure) => Err(match failure.fields.first() {
            Some(fault) => coded(fault.code, &failure.detail),
            None => no_object(),
        }),
    }
}

fn no_object() -> String {
    coded(FieldCode::Type, "must be a JSON object")
}

fn within_limit(custom_data: String) -> Result<String, String> {
    if custom_data.len() <= MAX_CUSTOM_DATA {
        return Ok(custom_data);
    }
    let message = format!("at most {MAX_CUSTOM_DATA} bytes");
    Err(coded(FieldCode::Length, &message))
}
