//! Nothing in the document lacks a description or an example, and answers are as it says.

use serde_json::{Map, Value, json};

use crate::{
    harness::TestApp,
    operations,
    samples::{self, resolve},
};

/// Collects what the document lacks.
#[derive(Default)]
struct Gaps(Vec<String>);

impl Gaps {
    fn need(&mut self, is_there: bool, what: impl FnOnce() -> String) {
        if !is_there {
            self.0.push(what());
        }
    }

    fn assert_none(self) {
        assert!(self.0.is_empty(), "missing:\n{}", self.0.join("\n"));
    }
}

fn is_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}

/// Returns every operation with its name.
fn operations_of(document: &Value) -> Vec<(String, &Map<String, Value>)> {
    let paths = document["paths"].as_object().expect("paths");
    let operations = paths.iter().flat_map(|(path, item)| {
        let item = item.as_object().expect("operations").iter();
        item.map(move |(method, operation)| {
            let operation = operation.as_object().expect("an operation");
            (format!("{method} {path}"), operation)
        })
    });
    operations.collect()
}

/// Returns the objects of all schemas, the parts of an `allOf` included.
fn objects(document: &Value) -> Vec<(&String, &Value)> {
    let schemas = document["components"]["schemas"].as_object();
    let schemas = schemas.expect("schemas").iter();
    let parts = schemas.flat_map(|(name, schema)| match schema["allOf"].as_array() {
        Some(parts) => parts.iter().map(|part| (name, part)).collect(),
        None => vec![(name, schema)],
    });
    parts.collect()
}

#[test]
fn every_field_has_a_description_and_an_example() {
    let document = samples::openapi();
    let mut gaps = Gaps::default();
    for (name, object) in objects(&document) {
        for (field, schema) in object["properties"].as_object().into_iter().flatten() {
            let target = resolve(schema).0;
            gaps.need(is_text(&schema["description"]), || {
                format!("description of {name}.{field}: complete/fields.tsv or a doc comment")
            });
            let has_example = [schema, &target].iter().any(|schema| {
                schema["examples"].is_array()
                    || schema["example"].is_object()
                    || schema["enum"].is_array()
                    || schema["properties"].is_object()
                    || schema["allOf"].is_array()
                    || schema["anyOf"].is_array()
                    || schema["items"]["$ref"].is_string()
            });
            gaps.need(has_example, || {
                format!("example of {name}.{field}: complete/fields.tsv")
            });
        }
    }
    gaps.assert_none();
}

#[test]
fn every_operation_parameter_and_tag_is_described() {
    let document = samples::openapi();
    let mut gaps = Gaps::default();
    let tags = document["tags"].as_array().expect("tags");
    for tag in tags {
        gaps.need(is_text(&tag["description"]), || format!("tag {tag}"));
    }
    for (name, operation) in operations_of(&document) {
        for key in ["summary", "description", "operationId"] {
            gaps.need(is_text(&operation[key]), || format!("{key} of {name}"));
        }
        let tag = &operation["tags"][0];
        gaps.need(tags.iter().any(|known| known["name"] == *tag), || {
            format!("{tag} in openapi/tags.rs")
        });
        let parameters = operation.get("parameters").and_then(Value::as_array);
        for parameter in parameters.into_iter().flatten() {
            let has_example =
                !parameter["example"].is_null() || parameter["schema"]["examples"].is_array();
            let described = is_text(&parameter["description"]) && has_example;
            gaps.need(described, || format!("{} of {name}", parameter["name"]));
        }
    }
    gaps.assert_none();
}

#[test]
fn every_body_and_answer_has_an_example_and_every_problem_one_too() {
    let document = samples::openapi();
    let mut gaps = Gaps::default();
    for (name, operation) in operations_of(&document) {
        let responses = operation["responses"].as_object().expect("responses");
        let successes = responses
            .iter()
            .filter(|(status, _)| status.starts_with('2'));
        let holders = successes
            .map(|(_, response)| response)
            .chain(operation.get("requestBody"));
        for holder in holders {
            for (media, content) in holder["content"].as_object().into_iter().flatten() {
                gaps.need(content["examples"].is_object(), || {
                    format!("example of {media} of {name}")
                });
            }
        }
    }
    let problems = document["components"]["responses"].as_object();
    for (name, problem) in problems.expect("problems") {
        let content = &problem["content"]["application/problem+json"];
        gaps.need(content["example"]["code"].is_string(), || name.clone());
        gaps.need(problem["headers"].is_object(), || {
            format!("headers of {name}")
        });
    }
    gaps.assert_none();
}

#[test]
fn responses_list_their_headers() {
    let document = samples::openapi();
    let headers = |path: &str, method: &str, status: &str| {
        let response = &document["paths"][path][method]["responses"][status];
        let headers = response["headers"].as_object().expect("headers");
        headers.keys().cloned().collect::<Vec<_>>().join(" ")
    };
    let limits = "RateLimit RateLimit-Policy X-Request-Id";
    assert_eq!(headers("/products", "get", "200"), limits);
    assert_eq!(
        headers("/products", "post", "201"),
        format!("Idempotency-Replayed Location {limits}")
    );
    let problem = &document["components"]["responses"]["TooManyRequests"]["headers"];
    assert!(problem["Retry-After"].is_object());
}

/// Returns the required fields of a schema that a value lacks, and what is `null` though it may not be.
fn faults(value: &Value, schema: &Value) -> Vec<String> {
    let (schema, nullable) = resolve(schema);
    if value.is_null() {
        let faults = (!nullable).then(|| "null".to_owned());
        return faults.into_iter().collect();
    }
    if let Some(parts) = schema["allOf"].as_array() {
        let parts = parts.iter();
        return parts.flat_map(|part| faults(value, part)).collect();
    }
    if let (Some(rows), items) = (value.as_array(), &schema["items"]) {
        let rows = rows.iter();
        return rows.flat_map(|row| faults(row, items)).collect();
    }
    let required = schema["required"].as_array().into_iter().flatten();
    let missing = required.filter(|name| value.get(name.as_str().expect("a name")).is_none());
    let mut found: Vec<_> = missing.map(ToString::to_string).collect();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(value) = value.get(name) {
            let inside = faults(value, field);
            found.extend(inside.into_iter().map(|fault| format!("{name}.{fault}")));
        }
    }
    found
}

#[tokio::test]
async fn answers_have_all_fields_that_the_document_requires() {
    let app = TestApp::start().await;
    let document = samples::openapi();
    for operation in operations::all() {
        let exchange = app.exchange(operation.request(&app)).await;
        let (method, path) = (operation.method.to_lowercase(), &operation.path);
        let status = exchange.status.to_string();
        let responses = &document["paths"][path][&method]["responses"];
        let schema = &responses[status]["content"]["application/json"]["schema"];
        // Not that of another standard, which the fake service does not follow.
        if !schema["properties"]["data"].is_object() {
            continue;
        }
        let faults = faults(&exchange.body, schema);
        assert_eq!(faults, [""; 0], "{method} {path}: {}", exchange.body);
    }
}

#[tokio::test]
async fn problems_have_all_fields_that_the_document_requires() {
    let app = TestApp::start().await;
    let problem = json!({"$ref": "#/components/schemas/ProblemDocument"});
    for path in ["/products?page[size]=x", "/nothing", "/products/x"] {
        let exchange = app.get(path).await;
        let faults = faults(&exchange.body, &problem);
        assert_eq!(faults, [""; 0], "{path}: {}", exchange.body);
    }
}
