//! The document is complete, current and served.

use std::collections::HashSet;

use platform::error::{Code, FieldCode};

use crate::harness::TestApp;

#[test]
fn the_committed_document_is_current() {
    let current = format!("{:#}", gateway::openapi_document());
    let committed = include_str!("../../openapi.json");
    assert!(
        current == committed.trim_end(),
        "run: cargo run --example openapi > gateway/openapi.json"
    );
}

#[test]
fn references_resolve_and_operation_ids_are_unique() {
    let document = gateway::openapi_document();
    let text = document.to_string();
    for reference in text.split("\"#/").skip(1) {
        let path = reference.split('"').next().expect("a path");
        assert!(
            document.pointer(&format!("/{path}")).is_some(),
            "{path} is missing"
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

#[test]
fn problems_list_their_codes() {
    let document = crate::samples::openapi();
    let codes = |schema: &str| {
        let codes = &document["components"]["schemas"][schema]["properties"]["code"]["enum"];
        let codes = codes.as_array().expect("a list of codes").iter();
        let codes: HashSet<_> = codes
            .map(|code| code.as_str().expect("a text").to_owned())
            .collect();
        codes
    };
    let all: HashSet<_> = Code::PUBLIC
        .iter()
        .map(|code| code.as_str().to_owned())
        .collect();
    assert_eq!(codes("ProblemDocument"), all);
    let of_fields = codes("FieldProblem");
    for code in FieldCode::FORM.map(FieldCode::as_str) {
        assert!(of_fields.contains(code), "{code}");
    }
    assert!(of_fields.contains("wallet_locked") && !of_fields.contains("internal"));
}

#[test]
fn operations_list_their_statuses() {
    let document = crate::samples::openapi();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("operations") {
            let responses = &operation["responses"];
            let writes = method != "get";
            let parameters = operation["parameters"].as_array();
            let mut parameters = parameters.into_iter().flatten();
            let is_conditional = parameters.any(|parameter| parameter["name"] == "If-Match");
            for (status, expected) in [
                ("400", method != "delete" || is_conditional),
                ("401", true),
                ("403", true),
                ("404", path.contains('{')),
                ("406", responses["204"].is_null()),
                ("409", writes),
                ("412", true),
                ("413", writes && method != "delete"),
                ("415", writes && method != "delete"),
                ("422", writes && method != "delete"),
                ("429", true),
                ("503", true),
                ("default", true),
            ] {
                let listed = responses[status].is_object();
                assert_eq!(listed, expected, "{method} {path} {status}");
            }
        }
    }
    let conflict = &document["components"]["responses"]["Conflict"]["description"];
    assert!(
        conflict
            .as_str()
            .expect("a text")
            .contains("`order_busy`: ")
    );
}

#[test]
fn lists_without_pages_can_be_sorted_and_single_reads_embed() {
    let document = crate::samples::openapi();
    let has = |path: &str, name: &str| {
        let parameters = &document["paths"][path]["get"]["parameters"];
        let mut parameters = parameters.as_array().expect("parameters").iter();
        parameters.any(|parameter| parameter["name"] == name)
    };
    assert!(has("/payment-methods", "sort"));
    assert!(!has("/payment-methods", "page[size]"));
    assert!(has("/products/{id}", "include"));
    assert!(!has("/categories/{id}", "include"));
}

#[test]
fn single_reads_may_be_not_modified() {
    let document = crate::samples::openapi();
    let has = |path: &str| {
        let operation = &document["paths"][path]["get"];
        let parameters = operation["parameters"].as_array().expect("parameters");
        let mut parameters = parameters.iter();
        let takes_tags = parameters.any(|parameter| parameter["name"] == "If-None-Match");
        assert_eq!(
            takes_tags,
            operation["responses"]["304"].is_object(),
            "{path}"
        );
        takes_tags
    };
    assert!(has("/products/{id}"));
    assert!(!has("/products"));
}
