//! What the gateway itself refuses of an import.

use reqwest::Response;

use crate::support::{Running, problem, start};

const NDJSON: &str = "application/x-ndjson";
const JSON: &str = "application/json";

async fn import(gateway: &Running, query: &str, content_type: &str, body: String) -> Response {
    let path = format!("/products/import{query}");
    let request = gateway.admin("POST", &path);
    let request = request.header("content-type", content_type).body(body);
    request.send().await.expect("answers")
}

#[tokio::test]
async fn bodies_are_lines_or_an_array() {
    let gateway = start(&[]).await;
    for content_type in ["text/plain", "application/x-ndjson; charset=latin1"] {
        let answer = import(&gateway, "", content_type, String::new()).await;
        problem(answer, 415, "unsupported_media_type").await;
    }
    for body in ["", "{}", "[{}", "[{},]", "[x]", "[{}] {}"] {
        let answer = import(&gateway, "", JSON, body.into()).await;
        problem(answer, 400, "malformed_json").await;
    }
    for query in ["?mode=all", "?mode=", "?mode=partial&mode=partial"] {
        let answer = import(&gateway, query, JSON, "[]".into()).await;
        problem(answer, 400, "invalid_query").await;
    }
    let key = gateway
        .admin("POST", "/products/import")
        .header("content-type", JSON)
        .header("idempotency-key", "x".repeat(256))
        .body("[]");
    problem(key.send().await.unwrap(), 400, "invalid_idempotency_key").await;

    // Good so far: the catalogue is away.
    for (content_type, body) in [(NDJSON, ""), (NDJSON, "{}\n\n{\n"), (JSON, "[{}, 5]")] {
        let answer = import(&gateway, "?mode=partial&x=1", content_type, body.into()).await;
        problem(answer, 503, "unavailable").await;
    }
    let export = gateway.admin("GET", "/products/export").send().await;
    problem(export.unwrap(), 503, "unavailable").await;
}

#[tokio::test]
async fn only_imports_may_be_large() {
    let gateway = start(&[]).await;
    let line = |length: usize| format!("{{\"name\":\"{}\"}}\n", "x".repeat(length));
    let two = line(1_000_000).repeat(2);
    let answer = import(&gateway, "", NDJSON, two.clone()).await;
    problem(answer, 503, "unavailable").await;
    let elsewhere = gateway.admin("POST", "/products");
    let elsewhere = elsewhere.header("content-type", JSON).body(two);
    problem(elsewhere.send().await.unwrap(), 413, "payload_too_large").await;

    let answer = import(&gateway, "", NDJSON, line(1_100_000)).await;
    problem(answer, 413, "payload_too_large").await;
    let answer = import(&gateway, "", NDJSON, "\n".repeat(32 * 1024 * 1024 + 1)).await;
    problem(answer, 413, "payload_too_large").await;
    let answer = import(&gateway, "", NDJSON, "{}\n".repeat(10_001)).await;
    let document = problem(answer, 422, "validation_failed").await;
    assert_eq!(document["errors"][0]["code"], "length");
}

#[tokio::test]
async fn users_have_no_bulk() {
    let gateway = start(&[]).await;
    for (method, path) in [("POST", "/products/import"), ("GET", "/products/export")] {
        let answer = gateway.user(method, path).send().await.unwrap();
        problem(answer, 403, "forbidden").await;
    }
}
