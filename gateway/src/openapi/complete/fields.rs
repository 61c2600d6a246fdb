//! Descriptions, examples and forms of the fields of objects.

use std::{collections::HashMap, sync::LazyLock};

use serde_json::{Map, Value, json};

use super::{Enums, is_null, objects, target, without_null};

/// What `fields.tsv` says about a field.
struct Row {
    example: Example,
    description: &'static str,
}

/// An example of a field.
enum Example {
    /// The id of a resource.
    Id,
    /// That of the schema that the field refers to.
    OfSchema,
    Json(Value),
}

/// Fields of answers that are left out of some of them; all others are always there.
const OMITTED: [&str; 12] = [
    "Activity.destinationWallet",
    "Activity.destinationWalletUser",
    "Activity.originWallet",
    "Activity.originWalletUser",
    "ApiKey.key",
    "Movement.transaction",
    "Order.lines",
    "Order.user",
    "Product.category",
    "Product.questions",
    "Product.taxRate",
    "Webhook.secret",
];

/// Answers of which any field may be left out: parts of others, and a trace that is not recorded.
const PARTIAL: [&str; 1] = ["ProductDetail"];

static ROWS: LazyLock<HashMap<&str, Row>> = LazyLock::new(|| {
    let lines = include_str!("fields.tsv").lines();
    let rows = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.map(|row| {
        let mut columns = row.split('\t');
        let mut next = || {
            columns
                .next()
                .unwrap_or_else(|| panic!("fields.tsv: {row}"))
        };
        let (name, example, description) = (next(), next(), next());
        let example = match example {
            "id" => Example::Id,
            "schema" => Example::OfSchema,
            json => Example::Json(serde_json::from_str(json).expect("JSON in fields.tsv")),
        };
        (
            name,
            Row {
                example,
                description,
            },
        )
    })
    .collect()
});

/// Completes the fields of a schema.
pub(super) fn complete(name: &str, schema: &mut Value, is_answer: bool, enums: &Enums) {
    flatten_options(schema);
    for object in objects(schema) {
        let mut present = Vec::new();
        let Some(fields) = object.get_mut("properties").and_then(Value::as_object_mut) else {
            continue;
        };
        for (field, schema) in fields.iter_mut() {
            let full = format!("{name}.{field}");
            let row = ROWS.get(full.as_str()).or_else(|| ROWS.get(field.as_str()));
            describe(field, schema, row, is_answer);
            if !is_answer {
                continue;
            }
            if let Some(values) = enums.get(&full) {
                restrict(schema, values);
            }
            if OMITTED.contains(&full.as_str()) || is_never_null(field) {
                *schema = never_null(schema);
            }
            let is_omitted = OMITTED.contains(&full.as_str())
                || PARTIAL.contains(&name)
                || full == "ProblemDocument.traceId";
            if !is_omitted {
                present.push(json!(field));
            }
        }
        if is_answer {
            object.remove("required");
        }
        if !present.is_empty() {
            object.insert("required".to_owned(), Value::Array(present));
        }
    }
}

/// Returns whether a time of an answer is always known.
fn is_never_null(field: &str) -> bool {
    matches!(field, "createdAt" | "updatedAt")
}

/// Corrects two forms that serde does not have: the parts of an object are never `null`, and of two
/// schemas that a value may be of, it may be of both.
fn flatten_options(schema: &mut Value) {
    if let Some(parts) = schema.get_mut("allOf").and_then(Value::as_array_mut) {
        for part in parts {
            *part = without_null(part).clone();
        }
    }
    let choices = schema["oneOf"].as_array();
    if choices.is_some_and(|choices| choices.iter().all(|choice| target(choice).is_some())) {
        let object = schema.as_object_mut().expect("a schema");
        let choices = object.remove("oneOf").expect("choices");
        object.insert("anyOf".to_owned(), choices);
    }
}

fn describe(field: &str, schema: &mut Value, row: Option<&Row>, is_answer: bool) {
    let inner = without_null(schema)["description"]
        .as_str()
        .map(str::to_owned);
    let is_inline = schema.get("oneOf").is_none();
    let object = schema.as_object_mut().expect("a schema");
    if let Some(inner) = inner.filter(|_| !is_inline) {
        for choice in object["oneOf"].as_array_mut().expect("choices") {
            choice
                .as_object_mut()
                .expect("a schema")
                .remove("description");
        }
        object.insert("description".to_owned(), json!(inner));
    }
    let Some(row) = row else {
        return;
    };
    if !object.contains_key("description") {
        object.insert("description".to_owned(), json!(row.description));
    }
    match &row.example {
        Example::OfSchema => {}
        Example::Id => add_id(field, object, is_answer),
        Example::Json(example) => {
            object.insert("examples".to_owned(), json!([of_side(example, is_answer)]));
            if is_answer && example.as_str().is_some_and(is_money) {
                object.insert("pattern".to_owned(), json!(r"^-?[0-9]{1,20}\.[0-9]{8}$"));
            }
        }
    }
}

/// Amounts of requests have as many decimals as people write.
fn of_side(example: &Value, is_answer: bool) -> Value {
    match example.as_str().filter(|text| !is_answer && is_money(text)) {
        Some(money) => json!(money.strip_suffix("000000").unwrap_or(money)),
        None => example.clone(),
    }
}

fn is_money(text: &str) -> bool {
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once('.')
        .is_some_and(|(whole, decimals)| decimals.len() == 8 && digits(whole) && digits(decimals))
}

/// Adds the example of an id, another one for each field.
fn add_id(field: &str, object: &mut Map<String, Value>, is_answer: bool) {
    let hash = field.bytes().fold(0x5f10_u64, |hash, byte| {
        (hash.wrapping_mul(131) + u64::from(byte)) & 0xffff_ffff_ffff
    });
    let id = format!("01927b3a-5f10-7c3e-9a41-{hash:012x}");
    object.insert("examples".to_owned(), json!([id]));
    if is_answer {
        object.insert("format".to_owned(), json!("uuid"));
    }
}

/// Restricts a text to some values.
fn restrict(schema: &mut Value, values: &[&str]) {
    let nullable = schema["type"] == json!(["string", "null"]);
    if !nullable && schema["type"] != "string" {
        return;
    }
    let values = values.iter().map(|value| json!(value));
    let values: Vec<_> = values.chain(nullable.then_some(Value::Null)).collect();
    schema["enum"] = Value::Array(values);
}

/// Returns the schema without `null`, and with its description and example.
fn never_null(schema: &Value) -> Value {
    let mut inner = without_null(schema).clone();
    if let Some(kinds) = inner["type"].as_array() {
        let kind = kinds.iter().find(|kind| *kind != "null").cloned();
        inner["type"] = kind.expect("a type");
    }
    for key in ["description", "examples"] {
        if let Some(value) = schema.get(key) {
            inner[key] = value.clone();
        }
    }
    debug_assert!(!is_null(&inner), "a field that is only null");
    inner
}
