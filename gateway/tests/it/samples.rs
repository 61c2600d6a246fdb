//! Samples that set every field: messages by their descriptors, JSON bodies by their schemas. A text
//! is the path of its own field, so that a snapshot shows where each value comes from.

use prost_reflect::{DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MessageDescriptor};
use serde_json::{Map, Value, json};

/// Fields of messages that hold JSON text.
const JSON_FIELDS: [&str; 7] = [
    "configurations",
    "contract",
    "custom_data",
    "details_json",
    "json_schema",
    "json_schema_template",
    "metadata",
];

/// Returns the descriptors of all services.
pub fn descriptors() -> DescriptorPool {
    DescriptorPool::decode(proto::DESCRIPTORS).expect("our own descriptors")
}

/// Builds a message with every field set.
pub fn message(descriptor: &MessageDescriptor) -> DynamicMessage {
    fill(descriptor, "")
}

fn fill(descriptor: &MessageDescriptor, path: &str) -> DynamicMessage {
    let mut message = DynamicMessage::new(descriptor.clone());
    for field in descriptor.fields() {
        let path = match path {
            "" => field.name().to_owned(),
            path => format!("{path}.{}", field.name()),
        };
        let value = value(&field, &path);
        let value = if field.is_list() {
            prost_reflect::Value::List(vec![value])
        } else {
            value
        };
        message.set_field(&field, value);
    }
    message
}

fn value(field: &FieldDescriptor, path: &str) -> prost_reflect::Value {
    use prost_reflect::Value as V;
    match field.kind() {
        Kind::String if JSON_FIELDS.contains(&field.name()) => {
            V::String(json!({ path: 1 }).to_string())
        }
        Kind::String => V::String(path.to_owned()),
        Kind::Bool => V::Bool(true),
        Kind::Uint32 => V::U32(field.number()),
        Kind::Int64 => V::I64(field.number().into()),
        Kind::Uint64 => V::U64(field.number().into()),
        // Number 0 is `_UNSPECIFIED`.
        Kind::Enum(_) => V::EnumNumber(1),
        Kind::Message(inner) if inner.full_name() == "google.protobuf.Timestamp" => {
            V::Message(timestamp(&inner, field.number()))
        }
        Kind::Message(inner) => V::Message(fill(&inner, path)),
        kind => panic!("{path}: no sample of {kind:?}"),
    }
}

/// Builds a moment in 2026 whose second is the number of its field.
fn timestamp(descriptor: &MessageDescriptor, number: u32) -> DynamicMessage {
    let mut message = DynamicMessage::new(descriptor.clone());
    let seconds = 1_769_853_600 + i64::from(number);
    message.set_field_by_name("seconds", prost_reflect::Value::I64(seconds));
    message.set_field_by_name("nanos", prost_reflect::Value::I32(7_000_000));
    message
}

/// Returns the OpenAPI document.
pub fn openapi() -> Value {
    serde_json::from_str(include_str!("../../openapi.json")).expect("JSON")
}

/// Builds a body with every field of this schema.
pub fn body(schema: &str) -> Value {
    let schemas = &openapi()["components"]["schemas"];
    assert!(schemas[schema].is_object(), "no schema {schema}");
    fill_schema(&schemas[schema], schema, schemas)
}

fn fill_schema(schema: &Value, name: &str, schemas: &Value) -> Value {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = reference.rsplit('/').next().expect("a name");
        return fill_schema(&schemas[target], name, schemas);
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        let choice = choices.iter().find(|choice| choice["type"] != "null");
        return fill_schema(choice.expect("more than null"), name, schemas);
    }
    if let Some(values) = schema["enum"].as_array() {
        return values[0].clone();
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().find(|kind| *kind != "null").expect("a type"),
        kind => kind,
    };
    match kind.as_str().unwrap_or("any") {
        "string" => json!(text(schema, name)),
        "any" => json!(name),
        "integer" => json!(3),
        "boolean" => json!(true),
        "array" => json!([fill_schema(&schema["items"], name, schemas)]),
        "object" => match schema["properties"].as_object() {
            Some(properties) => object(properties, schemas),
            None => json!({ name: 1 }),
        },
        kind => panic!("{name}: no sample of {kind}"),
    }
}

/// Returns a text of the schema's form, which tells fields apart.
fn text(schema: &Value, name: &str) -> String {
    let number = name.bytes().fold(7, |number: u32, byte| {
        number.wrapping_mul(31).wrapping_add(byte.into())
    });
    match (schema["format"].as_str(), schema["pattern"].as_str()) {
        (Some("uuid"), _) => format!("01920000-0000-7000-8000-{number:012x}"),
        (_, Some(pattern)) if pattern.contains("[0-9]{1,") => format!("{}.5", number % 99 + 1),
        _ => name.to_owned(),
    }
}

/// Returns the schema of an object with its references resolved, and whether it may be `null`.
pub fn resolve(schema: &Value) -> (Value, bool) {
    let schemas = &openapi()["components"]["schemas"];
    if let Some(reference) = schema["$ref"].as_str() {
        let target = reference.rsplit('/').next().expect("a name");
        return (schemas[target].clone(), false);
    }
    let is_null = |schema: &Value| schema["type"] == "null";
    if let Some(choices) = schema["oneOf"].as_array()
        && choices.iter().any(is_null)
    {
        let choice = choices.iter().find(|choice| !is_null(choice));
        return (resolve(choice.expect("more than null")).0, true);
    }
    let kinds = schema["type"].as_array();
    let nullable = kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind == "null"));
    (schema.clone(), nullable)
}

fn object(properties: &Map<String, Value>, schemas: &Value) -> Value {
    let fields = properties.iter();
    fields
        .map(|(name, schema)| (name.clone(), fill_schema(schema, name, schemas)))
        .collect::<Map<_, _>>()
        .into()
}
