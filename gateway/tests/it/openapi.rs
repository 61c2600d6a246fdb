//! The document is complete, current and served.

use std::collections::HashSet;

use serde_json::Value;

use crate::harness::TestApp;

#[test]
fn the_committed_document_is_current() {
    let current = gateway::openapi_document().to_pretty_json().expect("JSON");
    let committed = include_str!("../../openapi.json");
    assert!(
        current == committed.trim_end(),
        "run: cargo run --example openapi > gateway/openapi.json"
    );
}

#[test]
fn references_resolve_and_operation_ids_are_unique() {
    let text = gateway::openapi_document().to_json().expect("JSON");
    let document: Value = serde_json::from_str(&text).expect("JSON");
    for reference in text.split("\"#/components/schemas/").skip(1) {
        let name = reference.split('"').next().expect("a name");
        assert!(
            document["components"]["schemas"][name].is_object(),
            "{name} is missing"
        );
    }
    let mut ids = HashSet::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("operations") {
            let id = operation["operationId"]
                .as_str()
                .unwrap_or_else(|| panic!("{method} {path}"));
            assert!(ids.insert(id.to_owned()), "{id} twice");
        }
    }
}

#[tokio::test]
async fn the_document_is_served_as_committed() {
    let app = TestApp::start().await;
    let exchange = app.exchange(app.anonymous("GET", "/openapi.json")).await;
    assert_eq!(exchange.status, 200);
    assert_eq!(exchange.body, crate::samples::openapi());
    // The page leads to the document.
    let script = app
        .exchange(app.anonymous("GET", "/docs/swagger-initializer.js"))
        .await;
    assert!(
        script
            .body
            .as_str()
            .expect("text")
            .contains("\"/openapi.json\"")
    );
}
