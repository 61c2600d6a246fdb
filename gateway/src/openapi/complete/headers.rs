//! The headers of responses.

use serde_json::{Map, Value, json};

/// Adds the headers of every response, and to the document the headers that they refer to.
pub(super) fn add(document: &mut Value) {
    document["components"]["headers"] = shared();
    let paths = document["paths"].as_object_mut().expect("paths");
    for item in paths.values_mut().filter_map(Value::as_object_mut) {
        for (method, operation) in item {
            let takes_key = takes_idempotency_key(operation);
            let is_limited = operation["security"] != json!([{}]);
            let responses = operation["responses"].as_object_mut().expect("responses");
            for (status, response) in responses {
                let names = of_success(method, status, takes_key, is_limited);
                insert(response, &names);
            }
        }
    }
    let problems = document["components"]["responses"].as_object_mut();
    for (name, problem) in problems.expect("problems") {
        insert(problem, of_problem(name));
    }
}

fn takes_idempotency_key(operation: &Value) -> bool {
    let parameters = operation["parameters"].as_array();
    let mut parameters = parameters.into_iter().flatten();
    parameters.any(|parameter| parameter["name"] == "Idempotency-Key")
}

fn of_success(method: &str, status: &str, takes_key: bool, is_limited: bool) -> Vec<&'static str> {
    if !status.starts_with('2') {
        return Vec::new();
    }
    let mut names = vec!["X-Request-Id"];
    if is_limited {
        names.extend(["RateLimit", "RateLimit-Policy"]);
    }
    if status == "201" {
        names.push("Location");
    }
    if method == "post" && takes_key {
        names.push("Idempotency-Replayed");
    }
    names
}

fn of_problem(name: &str) -> &'static [&'static str] {
    match name {
        "Unauthorized" => &["X-Request-Id", "WWW-Authenticate"],
        "TooManyRequests" => &[
            "X-Request-Id",
            "Retry-After",
            "RateLimit",
            "RateLimit-Policy",
        ],
        "Conflict" | "ServiceUnavailable" | "GatewayTimeout" => &["X-Request-Id", "Retry-After"],
        _ => &["X-Request-Id"],
    }
}

fn insert(response: &mut Value, names: &[&str]) {
    if names.is_empty() || response.get("$ref").is_some() {
        return;
    }
    let headers = names.iter().map(|name| {
        let reference = format!("#/components/headers/{name}");
        ((*name).to_owned(), json!({ "$ref": reference }))
    });
    response["headers"] = Value::Object(headers.collect::<Map<_, _>>());
}

fn shared() -> Value {
    let text = |description: &str, example: &str| {
        json!({
            "description": description,
            "schema": {"type": "string"},
            "example": example,
        })
    };
    json!({
        "Idempotency-Replayed": text(
            "`true` if this is the recorded response to an earlier request with the same key.",
            "true",
        ),
        "Location": text(
            "Path of the resource.",
            "/products/01927b3a-5f10-7c3e-9a41-2f6d8e0b1c57",
        ),
        "RateLimit": text(
            "Requests left, and seconds until the limit is whole again; only where a limit is set.",
            "\"default\";r=199;t=1",
        ),
        "RateLimit-Policy": text(
            "Requests allowed, and the seconds they are counted over.",
            "\"default\";q=200;w=2",
        ),
        "Retry-After": {
            "description": "Seconds to wait before another attempt; left out where it is of no use.",
            "schema": {"type": "integer", "minimum": 1},
            "example": 1,
        },
        "WWW-Authenticate": text("The scheme of credentials.", "Bearer"),
        "X-Request-Id": text(
            "Id of the request in the logs: the one sent, or a new one.",
            "01927b3a-7d21-7f0e-8c55-6a1b2c3d4e5f",
        ),
    })
}
