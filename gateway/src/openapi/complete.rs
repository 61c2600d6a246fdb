//! Completes the generated document with what Rust types do not say: descriptions and examples of
//! fields, which fields an answer always has, whole examples, and headers.

mod examples;
mod fields;
mod headers;

use std::collections::{BTreeMap, HashSet};

use proto::lists::Class;
use serde_json::{Map, Value};

use crate::router::Route;

/// Names of values that a field of an answer is one of, by `Schema.field`.
type Enums = BTreeMap<String, &'static [&'static str]>;

/// Completes the document of these routes.
pub(super) fn complete(document: &mut Value, routes: &[Route]) {
    let answers = answers(routes);
    let enums = enums(routes);
    let schemas = document.pointer_mut("/components/schemas");
    let schemas = schemas.and_then(Value::as_object_mut).expect("schemas");
    for (name, schema) in schemas.iter_mut() {
        fields::complete(name, schema, answers.contains(name), &enums);
    }
    examples::add(document);
    headers::add(document);
}

/// Returns the names of the schemas of answers.
fn answers(routes: &[Route]) -> HashSet<String> {
    let mut names = HashSet::from(["ProblemDocument".to_owned(), "FieldProblem".to_owned()]);
    for shape in routes.iter().filter_map(|route| route.response) {
        names.extend(shape.schemas().into_iter().map(|(name, _)| name));
    }
    names
}

/// Returns the values of fields that lists filter by.
fn enums(routes: &[Route]) -> Enums {
    let mut enums = Enums::new();
    for route in routes {
        let (Some(list), Some(shape)) = (route.list, route.response) else {
            continue;
        };
        for field in list.fields {
            if let Class::Enum(values) = field.class {
                enums.insert(format!("{}.{}", shape.schema_name(), field.name), values);
            }
        }
    }
    enums
}

/// Returns the objects that a schema consists of: itself, and the parts of an `allOf`.
fn objects(schema: &mut Value) -> Vec<&mut Map<String, Value>> {
    if schema.get("allOf").is_none() {
        return schema.as_object_mut().into_iter().collect();
    }
    let parts = schema.get_mut("allOf").and_then(Value::as_array_mut);
    let parts = parts.into_iter().flatten();
    parts.filter_map(Value::as_object_mut).collect()
}

/// Returns the name of the schema that another refers to.
fn target(schema: &Value) -> Option<&str> {
    schema["$ref"]
        .as_str()?
        .strip_prefix("#/components/schemas/")
}

/// Returns whether a schema has no value but `null`.
fn is_null(schema: &Value) -> bool {
    schema["type"] == "null"
}

/// Returns the schema of the values of another that are not `null`.
fn without_null(schema: &Value) -> &Value {
    let choices = schema["oneOf"].as_array();
    let choices = choices.filter(|choices| choices.iter().any(is_null));
    let choice = choices.and_then(|choices| choices.iter().find(|choice| !is_null(choice)));
    choice.unwrap_or(schema)
}
