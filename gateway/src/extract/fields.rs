//! Field types of request bodies that serde has no form for.

use platform::error::FieldCode;
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::{json, value::RawValue};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ArrayBuilder, ObjectBuilder, OneOfBuilder, RefOr, Schema, schema::SchemaType},
};

use super::json::{check_nested, coded};

/// Most bytes of `customData`.
pub(crate) const MAX_CUSTOM_DATA: usize = 16 * 1024;

/// Most bytes of the reason of a cancellation.
const MAX_REASON: usize = 2_048;

/// A JSON object.
// Kept as the text it was written in.
#[derive(Debug, Clone, utoipa::ToSchema)]
#[schema(value_type = Object, example = json!({}))]
pub(crate) struct JsonObject(pub(crate) String);

/// A JSON object of at most 16 KiB, which comes back as it was written.
#[derive(Debug, Clone, utoipa::ToSchema)]
#[schema(value_type = Object, example = json!({"color": "red"}))]
pub(crate) struct CustomData(pub(crate) String);

/// A JSON object of at most 16 KiB, or a string that holds one.
#[derive(Debug, Clone)]
pub(crate) struct CustomDataOrText(pub(crate) String);

/// Any JSON, kept as the text it was written in.
#[derive(Debug, Clone)]
pub(crate) struct JsonText(pub(crate) String);

/// A JSON string or array of at most 2 KiB, kept as the text it was written in.
#[derive(Debug, Clone)]
pub(crate) struct TextOrList(String);

impl From<JsonObject> for String {
    fn from(object: JsonObject) -> Self {
        object.0
    }
}

impl From<CustomData> for String {
    fn from(custom_data: CustomData) -> Self {
        custom_data.0
    }
}

impl From<CustomDataOrText> for String {
    fn from(custom_data: CustomDataOrText) -> Self {
        custom_data.0
    }
}

impl From<TextOrList> for String {
    fn from(reason: TextOrList) -> Self {
        reason.0
    }
}

impl From<JsonText> for String {
    fn from(json: JsonText) -> Self {
        json.0
    }
}

impl<'de> Deserialize<'de> for JsonText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(|raw| Self(raw.get().to_owned()))
    }
}

impl<'de> Deserialize<'de> for TextOrList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let JsonText(text) = JsonText::deserialize(deserializer)?;
        if !text.starts_with(['"', '[']) {
            let message = coded(FieldCode::Type, "must be a string or an array");
            return Err(D::Error::custom(message));
        }
        if text.len() > MAX_REASON {
            let message = format!("must be at most {MAX_REASON} bytes");
            return Err(D::Error::custom(coded(FieldCode::Length, &message)));
        }
        Ok(Self(text))
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

impl PartialSchema for CustomDataOrText {
    fn schema() -> RefOr<Schema> {
        let description = "A JSON object of at most 16 KiB, or a string that holds one.";
        OneOfBuilder::new()
            .item(CustomData::schema())
            .item(String::schema())
            .description(Some(description))
            .examples([json!({"color": "red"})])
            .into()
    }
}

impl ToSchema for CustomDataOrText {}

impl PartialSchema for TextOrList {
    fn schema() -> RefOr<Schema> {
        let list = ArrayBuilder::new().items(AnyValue::schema());
        OneOfBuilder::new()
            .item(String::schema())
            .item(list)
            .description(Some("Text or a list, at most 2 KiB."))
            .examples([json!("out of stock")])
            .into()
    }
}

impl ToSchema for TextOrList {}

impl PartialSchema for JsonText {
    fn schema() -> RefOr<Schema> {
        AnyValue::schema()
    }
}

impl ToSchema for JsonText {}

/// Any JSON value.
struct AnyValue;

impl PartialSchema for AnyValue {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(SchemaType::AnyValue)
            .description(Some("Any JSON."))
            .examples([json!("the bank refused it")])
            .into()
    }
}
