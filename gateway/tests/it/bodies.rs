//! The form of every field of every body: what the document says is what the gateway enforces, and all
//! faults of a body are in one response.

use serde_json::{Map, Value, json};

use crate::{
    harness::{Exchange, TestApp},
    operations::{self, Operation},
    samples,
};

/// A body with one field.
struct Field {
    operation: Operation,
    name: String,
    schema: Value,
    nullable: bool,
    required: bool,
}

/// Returns every field of every body that holds one resource.
fn fields() -> Vec<Field> {
    let document = samples::openapi();
    let mut fields = Vec::new();
    for operation in operations::all() {
        let Some(name) = operation.schema.clone().filter(|_| !operation.is_bulk()) else {
            continue;
        };
        let schema = &document["components"]["schemas"][name];
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        for (name, property) in schema["properties"].as_object().expect("fields") {
            let (resolved, nullable) = samples::resolve(property);
            fields.push(Field {
                operation: operation.clone(),
                name: name.clone(),
                schema: resolved,
                nullable,
                required: required.contains(&json!(name)),
            });
        }
    }
    assert!(fields.len() > 100, "only {} fields", fields.len());
    fields
}

impl Field {
    /// Sends the sample body with other values of some fields.
    async fn send(&self, app: &TestApp, changes: &[(&str, Value)]) -> Exchange {
        let mut body = self.operation.body.clone().expect("a body");
        for (name, value) in changes {
            body[name] = value.clone();
        }
        let request = app.admin(&self.operation.method, &self.operation.url());
        app.exchange(request.json(&body)).await
    }

    fn title(&self, value: &Value) -> String {
        let operation = &self.operation;
        let (method, path, name) = (&operation.method, &operation.path, &self.name);
        format!("{method} {path} with {name}: {}", shortened(value))
    }

    /// Asserts that a value is refused with this code, and only this field.
    async fn assert_refused(&self, app: &TestApp, value: Value, codes: &[&str]) {
        let title = self.title(&value);
        let exchange = self.send(app, &[(&self.name, value)]).await;
        assert_eq!(exchange.status, 422, "{title}: {}", exchange.body);
        let errors = exchange.body["errors"].as_array().expect("errors");
        assert_eq!(errors.len(), 1, "{title}: {errors:?}");
        let field = errors[0]["field"].as_str().expect("a field");
        assert!(field.starts_with(&self.name), "{title}: {field}");
        let code = errors[0]["code"].as_str().expect("a code");
        assert!(codes.contains(&code), "{title}: {code}");
        assert!(exchange.calls.is_empty(), "{title}");
    }

    fn kind(&self) -> Option<&str> {
        match &self.schema["type"] {
            Value::Array(kinds) => kinds.iter().find(|kind| *kind != "null")?.as_str(),
            kind => kind.as_str(),
        }
    }

    /// Returns values of the field's type that its schema excludes, each with the codes it may have.
    fn out_of_form(&self) -> Vec<(Value, &'static [&'static str])> {
        let mut values: Vec<(Value, &'static [&'static str])> = Vec::new();
        if self.schema["enum"].is_array() {
            values.push((json!("nonsense"), &["enum"]));
        }
        if self.schema["format"] == "uuid" {
            values.push((json!("01920000000070008000000000000001"), &["format"]));
        }
        if self.schema["pattern"].is_string() {
            values.push((json!("-1e3"), &["format"]));
        }
        if let Some(most) = self.schema["maxLength"].as_u64() {
            let length = usize::try_from(most).expect("a length") + 1;
            values.push((json!("é".repeat(length)), &["length"]));
        }
        if self.schema["minLength"] == 1 {
            values.push((json!(""), &["required", "length"]));
        }
        if let Some(most) = self.schema["maximum"].as_u64() {
            let least = self.schema["minimum"].as_u64().expect("both bounds");
            values.push((json!(most + 1), &["range"]));
            values.push((json!(i128::from(least) - 1), &["range"]));
        }
        values
    }
}

fn shortened(value: &Value) -> String {
    value.to_string().chars().take(40).collect()
}

#[tokio::test]
async fn values_of_another_type_are_refused_in_every_field() {
    let app = TestApp::start().await;
    for field in fields() {
        let wrong: &[Value] = match field.kind() {
            Some("string") => &[json!(5), json!(["x"])],
            Some("integer") => &[json!("3"), json!(1.5)],
            Some("boolean") => &[json!("true"), json!(0)],
            Some("array") => &[json!("x"), json!({})],
            Some("object") => &[json!([]), json!("{}")],
            // Of several types.
            _ => continue,
        };
        for value in wrong {
            field
                .assert_refused(&app, value.clone(), &["type", "enum"])
                .await;
        }
    }
}

#[tokio::test]
async fn null_is_refused_in_every_field_that_keeps_a_value() {
    let app = TestApp::start().await;
    for field in fields() {
        if field.nullable {
            let exchange = field.send(&app, &[(&field.name, Value::Null)]).await;
            let title = field.title(&Value::Null);
            assert_eq!(exchange.status, field.operation.success, "{title}");
        } else {
            assert!(
                field.required || field.operation.method == "PATCH",
                "{}",
                field.title(&Value::Null)
            );
            field.assert_refused(&app, Value::Null, &["required"]).await;
        }
    }
}

#[tokio::test]
async fn values_out_of_the_documented_form_are_refused_in_every_field() {
    let app = TestApp::start().await;
    let mut count = 0;
    for field in fields() {
        for (value, codes) in field.out_of_form() {
            count += 1;
            field.assert_refused(&app, value, codes).await;
        }
    }
    assert!(count > 100, "only {count} values");
}

#[tokio::test]
async fn all_faults_of_a_body_are_in_one_response() {
    let app = TestApp::start().await;
    for operation in operations::all().into_iter().filter(|op| !op.is_bulk()) {
        let Some(body) = &operation.body else {
            continue;
        };
        let body = body.as_object().expect("an object");
        let (method, path) = (&operation.method, &operation.path);
        // Text is what fewest fields take, and `null` in it what the fewest accept.
        let broken: Map<_, _> = body
            .keys()
            .map(|key| (key.clone(), json!([null])))
            .collect();
        let mut faulty = broken.clone();
        faulty.insert("nonsense".to_owned(), json!(1));
        faulty.insert("rubbish".to_owned(), json!(1));
        let request = app.admin(method, &operation.url());
        let exchange = app.exchange(request.json(&faulty)).await;
        let document = exchange.problem(422, "validation_failed");
        let errors = document["errors"].as_array().expect("errors").iter();
        let named: Vec<_> = errors.map(|error| error["field"].clone()).collect();
        for unknown in ["nonsense", "rubbish"] {
            assert!(
                named.contains(&json!(unknown)),
                "{method} {path}: {named:?}"
            );
        }
        let takes_lists =
            |key: &str| matches!(key, "reason" | "lines" | "roles" | "email" | "events");
        for key in body.keys().filter(|key| !takes_lists(key)) {
            assert!(
                named.contains(&json!(key)),
                "{method} {path} {key}: {named:?}"
            );
        }
    }
}

#[tokio::test]
async fn missing_fields_are_named_together() {
    let app = TestApp::start().await;
    let document = samples::openapi();
    for operation in operations::all().into_iter().filter(|op| !op.is_bulk()) {
        let Some(name) = &operation.schema else {
            continue;
        };
        let required = &document["components"]["schemas"][name]["required"];
        let Some(required) = required.as_array() else {
            continue;
        };
        let request = app.admin(&operation.method, &operation.url());
        let exchange = app.exchange(request.json(&json!({}))).await;
        let document = exchange.problem(422, "validation_failed");
        let errors = document["errors"].as_array().expect("errors").iter();
        let mut named: Vec<_> = errors
            .map(|error| (error["field"].to_string(), error["code"].clone()))
            .collect();
        named.sort_by(|one, other| one.0.cmp(&other.0));
        let mut expected: Vec<_> = required
            .iter()
            .map(|field| (field.to_string(), json!("required")))
            .collect();
        expected.sort_by(|one, other| one.0.cmp(&other.0));
        assert_eq!(named, expected, "{} {}", operation.method, operation.path);
    }
}
