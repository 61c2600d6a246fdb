//! Whole examples of bodies and answers, made of the examples of their fields.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{target, without_null};

/// Most levels of objects in an example: orders hold lines, and lines orders.
const MAX_DEPTH: usize = 4;

/// Adds examples to every body and answer, and to the document the examples that they refer to.
pub(super) fn add(document: &mut Value) {
    let schemas = document["components"]["schemas"].take();
    let mut shared = BTreeMap::new();
    let paths = document["paths"].as_object_mut().expect("paths");
    let operations = paths.values_mut().filter_map(Value::as_object_mut);
    for operation in operations.flat_map(Map::values_mut) {
        if let Some(body) = operation.get_mut("requestBody") {
            add_to_contents(body, &schemas, &mut shared);
        }
        let responses = operation["responses"].as_object_mut().expect("responses");
        let successes = responses
            .iter_mut()
            .filter(|(status, _)| status.starts_with('2'));
        for (_, response) in successes {
            add_to_contents(response, &schemas, &mut shared);
        }
    }
    let shared: Map<_, _> = shared
        .into_iter()
        .map(|(name, value)| (name, json!({"value": value})))
        .collect();
    document["components"]["examples"] = Value::Object(shared);
    document["components"]["schemas"] = schemas;
}

fn add_to_contents(holder: &mut Value, schemas: &Value, shared: &mut BTreeMap<String, Value>) {
    let contents = holder.get_mut("content").and_then(Value::as_object_mut);
    for content in contents.into_iter().flat_map(Map::values_mut) {
        let Some((name, example)) = of_content(&content["schema"], schemas) else {
            continue;
        };
        let reference = format!("#/components/examples/{name}");
        content["examples"] = json!({"example": {"$ref": reference}});
        shared.insert(name, example);
    }
}

/// Returns the example of a body or answer, with its name.
fn of_content(schema: &Value, schemas: &Value) -> Option<(String, Value)> {
    if let Some(name) = target(schema) {
        return Some((name.to_owned(), of(schema, schemas, MAX_DEPTH)));
    }
    if let Some(name) = target(&schema["items"]) {
        let items = json!([of(&schema["items"], schemas, MAX_DEPTH)]);
        return Some((format!("{name}Array"), items));
    }
    let data = &schema["properties"]["data"];
    if let Some(name) = target(data) {
        let data = of(data, schemas, MAX_DEPTH);
        return Some((format!("{name}Response"), json!({ "data": data })));
    }
    let name = target(&data["items"])?;
    let rows = json!([of(&data["items"], schemas, MAX_DEPTH)]);
    let list = json!({"data": rows, "total": 1});
    Some((format!("{name}List"), list))
}

/// Returns the example of a schema.
fn of(schema: &Value, schemas: &Value, depth: usize) -> Value {
    if let Some(example) = schema["examples"].get(0).or_else(|| schema.get("example")) {
        return example.clone();
    }
    if let Some(name) = target(schema) {
        return of(&schemas[name], schemas, depth);
    }
    let schema = without_null(schema);
    if let Some(name) = target(schema) {
        return of(&schemas[name], schemas, depth);
    }
    if let Some(parts) = schema["allOf"].as_array() {
        let mut whole = Map::new();
        for part in parts {
            if let Value::Object(part) = of(part, schemas, depth) {
                whole.extend(part);
            }
        }
        return Value::Object(whole);
    }
    let choices = schema["oneOf"].as_array().or(schema["anyOf"].as_array());
    if let Some(choice) = choices.and_then(|choices| choices.first()) {
        return of(choice, schemas, depth);
    }
    if let Some(value) = schema["enum"].get(0) {
        return value.clone();
    }
    match schema["type"].as_str() {
        Some("boolean") => json!(true),
        Some("integer") => json!(1),
        Some("array") if depth > 0 => json!([of(&schema["items"], schemas, depth - 1)]),
        Some("array") => json!([]),
        Some("object") => object(schema, schemas, depth),
        _ => json!("text"),
    }
}

/// Returns the example of an object: with its fields that have one, but for relations deep inside.
fn object(schema: &Value, schemas: &Value, depth: usize) -> Value {
    let required = schema["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|names| names.contains(&json!(name)));
    let fields = schema["properties"].as_object().into_iter().flatten();
    let mut example = Map::new();
    for (name, field) in fields {
        let is_relation = field["examples"].is_null() && target(without_null(field)).is_some();
        if is_relation && depth == 0 {
            continue;
        }
        let value = of(field, schemas, depth.saturating_sub(1));
        if is_required(name) || !value.is_null() {
            example.insert(name.clone(), value);
        }
    }
    Value::Object(example)
}
