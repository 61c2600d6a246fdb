//! Entity tags of single resources, and requests with conditions.

use platform::error::{Code, Failure};
use reqwest::{RequestBuilder, Response};
use serde_json::json;

use crate::{
    harness::{ID, TestApp, problem},
    operations::{self, Operation},
};

async fn send(request: RequestBuilder) -> Response {
    request.send().await.expect("a response")
}

fn tag(response: &Response) -> String {
    let tag = response.headers()["etag"].to_str().expect("ASCII");
    tag.to_owned()
}

fn reads_one(operation: &Operation) -> bool {
    let is_json = operation.produces.as_deref() == Some("application/json");
    operation.method == "GET" && !operation.is_list && is_json
}

fn product() -> String {
    format!("/products/{ID}")
}

#[tokio::test]
async fn every_single_read_has_a_strong_tag_and_lists_have_none() {
    let app = TestApp::start().await;
    for operation in operations::all() {
        let response = send(operation.request(&app)).await;
        let is_tagged = response.headers().contains_key("etag");
        let is_patch = operation.compares_versions && operation.method == "PATCH";
        let is_single = reads_one(&operation);
        assert_eq!(is_tagged, is_single || is_patch, "{operation:?}");
        if is_single {
            let known = tag(&response);
            assert!(known.starts_with('"') && known.len() >= 34, "{known}");
            let request = operation.request(&app).header("if-none-match", &known);
            let response = send(request).await;
            assert_eq!(response.status(), 304, "{operation:?}");
            assert_eq!(tag(&response), known);
        }
    }
}

#[tokio::test]
async fn a_response_that_is_not_modified_has_no_body_and_the_headers_that_matter() {
    let app = TestApp::start_with(&["--rate-limit=100"]).await;
    let full = send(app.admin("GET", &product())).await;
    let known = tag(&full);
    for method in ["GET", "HEAD"] {
        let request = app.admin(method, &product());
        let response = send(request.header("if-none-match", &known)).await;
        assert_eq!(response.status(), 304, "{method}");
        for header in ["etag", "cache-control", "vary"] {
            assert_eq!(
                response.headers()[header],
                full.headers()[header],
                "{header}"
            );
        }
        for header in ["x-request-id", "ratelimit", "date"] {
            assert!(response.headers().contains_key(header), "{header}");
        }
        for header in ["content-type", "content-length", "transfer-encoding"] {
            assert!(!response.headers().contains_key(header), "{header}");
        }
        assert_eq!(response.bytes().await.expect("a body"), "");
    }
}

#[tokio::test]
async fn tags_are_compared_weakly_in_lists_of_any_length() {
    let app = TestApp::start().await;
    let known = tag(&send(app.admin("GET", &product())).await);
    for condition in [
        known.clone(),
        format!("W/{known}"),
        format!("\"a\", W/\"b\",{known}"),
        format!(", {known} ,"),
        format!("\"a,{}\", {known}", "b"),
        "*".to_owned(),
    ] {
        let request = app
            .admin("GET", &product())
            .header("if-none-match", &condition);
        assert_eq!(send(request).await.status(), 304, "{condition}");
    }
    let two = app
        .admin("GET", &product())
        .header("if-none-match", "\"a\"");
    let two = two.header("if-none-match", &known);
    assert_eq!(send(two).await.status(), 304);
    for condition in [
        "\"a\"",
        "W/\"a\", \"b\"",
        "",
        "nonsense",
        known.trim_matches('"'),
        &format!("{known} {known}"),
    ] {
        let request = app
            .admin("GET", &product())
            .header("if-none-match", condition);
        let response = send(request).await;
        assert_eq!(response.status(), 200, "{condition}");
        assert_eq!(tag(&response), known);
    }
}

#[tokio::test]
async fn a_tag_changes_with_the_body() {
    let app = TestApp::start().await;
    let known = tag(&send(app.admin("GET", &product())).await);
    assert_eq!(tag(&send(app.admin("HEAD", &product())).await), known);
    let mut other = proto::catalog::v1::GetProductResponse::default();
    other.product.get_or_insert_default().name = "Other".into();
    app.services.reply("ProductService/GetProduct", &other);
    let request = app.admin("GET", &product()).header("if-none-match", &known);
    let response = send(request).await;
    assert_eq!(response.status(), 200);
    assert_ne!(tag(&response), known);
}

#[tokio::test]
async fn a_refusal_has_no_tag_and_conditions_do_not_hide_it() {
    let app = TestApp::start().await;
    let missing = Failure::new(Code::ProductNotFound, "product not found");
    app.services.fail("ProductService/GetProduct", missing);
    for header in ["if-none-match", "if-match"] {
        let request = app.admin("GET", &product()).header(header, "*");
        let response = send(request).await;
        assert!(!response.headers().contains_key("etag"));
        assert_eq!(response.status(), 404);
    }
    let anonymous = app
        .anonymous("GET", &product())
        .header("if-none-match", "*");
    problem(anonymous, 401, "unauthenticated").await;
}

#[tokio::test]
async fn if_match_on_a_single_read_is_compared_strongly() {
    let app = TestApp::start().await;
    let known = tag(&send(app.admin("GET", &product())).await);
    for condition in ["*", &known, &format!("\"a\", {known}")] {
        let request = app.admin("GET", &product()).header("if-match", condition);
        assert_eq!(send(request).await.status(), 200, "{condition}");
    }
    for condition in ["\"a\"", &format!("W/{known}")] {
        let request = app.admin("GET", &product()).header("if-match", condition);
        problem(request, 412, "precondition_failed").await;
    }
    for condition in ["nonsense", "", "*, \"a\""] {
        let request = app.admin("GET", &product()).header("if-match", condition);
        problem(request, 400, "malformed_request").await;
    }
}

#[tokio::test]
async fn a_condition_that_a_route_cannot_compare_is_refused() {
    let app = TestApp::start().await;
    for operation in operations::all() {
        if reads_one(&operation) || operation.compares_versions {
            continue;
        }
        let exchange = app
            .exchange(operation.request(&app).header("if-match", "\"a\""))
            .await;
        exchange.problem(412, "precondition_failed");
        assert!(exchange.calls.is_empty(), "{operation:?}");
        let exchange = app
            .exchange(operation.request(&app).header("if-none-match", "*"))
            .await;
        if operation.method == "GET" {
            assert_eq!(exchange.status, 200, "{operation:?}");
        } else {
            exchange.problem(412, "precondition_failed");
        }
    }
    // There are no dates of changes to compare.
    let request = app.admin("PATCH", &product()).json(&json!({}));
    let request = request.header("if-unmodified-since", "Sat, 29 Oct 1994 19:43:31 GMT");
    assert_eq!(send(request).await.status(), 200);
}

/// The operations whose changes can be for a version only.
fn versioned() -> Vec<Operation> {
    let mut all = operations::all();
    all.retain(|operation| operation.compares_versions);
    all
}

#[tokio::test]
async fn versions_of_if_match_reach_the_service() {
    let app = TestApp::start().await;
    let names: Vec<_> = versioned()
        .iter()
        .map(|it| format!("{} {}", it.method, it.path))
        .collect();
    assert_eq!(
        names,
        [
            "PATCH /assets/{code}",
            "DELETE /categories/{id}",
            "PATCH /categories/{id}",
            "PATCH /order/{id}",
            "PATCH /orders/{id}",
            "DELETE /products/{id}",
            "PATCH /products/{id}",
            "DELETE /questions/{id}",
            "PATCH /questions/{id}",
            "DELETE /rates/{baseAssetCode}/{quoteAssetCode}",
            "PATCH /rates/{baseAssetCode}/{quoteAssetCode}",
            "DELETE /tasks/{id}",
            "PATCH /tasks/{id}",
            "DELETE /tax-rates/{id}",
            "PATCH /tax-rates/{id}",
            "PATCH /users/{id}",
            "PATCH /wallets/{id}",
            "DELETE /webhooks/{id}",
            "PATCH /webhooks/{id}",
        ]
    );
    for operation in versioned() {
        for (condition, versions) in [
            ("\"7.0a\"", Some("7")),
            ("\"7.0a-gzip\"", Some("7")),
            ("\"7.0a\", \"9.1b\", W/\"8.1b\", \"x\"", Some("7,9")),
            ("*", None),
        ] {
            let request = operation.request(&app).header("if-match", condition);
            let exchange = app.exchange(request).await;
            assert_eq!(exchange.status, operation.success, "{operation:?}");
            // The change comes before reads of what its response embeds.
            let sent = exchange.calls[0].metadata.get("guerdon-if-version");
            let sent = sent.map(|value| value.to_str().expect("ASCII").to_owned());
            assert_eq!(sent.as_deref(), versions, "{operation:?} {condition}");
        }
        for (condition, status, code) in [
            ("\"0a\"", 412, "precondition_failed"),
            ("W/\"7.0a\"", 412, "precondition_failed"),
            ("\"x.0a\"", 412, "precondition_failed"),
            ("\"9223372036854775808.0a\"", 412, "precondition_failed"),
            ("", 400, "malformed_request"),
            ("7", 400, "malformed_request"),
            ("\"7.0a", 400, "malformed_request"),
        ] {
            let request = operation.request(&app).header("if-match", condition);
            let exchange = app.exchange(request).await;
            exchange.problem(status, code);
            assert!(exchange.calls.is_empty(), "{operation:?} {condition}");
        }
        let request = operation.request(&app).header("if-none-match", "*");
        problem(request, 412, "precondition_failed").await;
    }
}

#[tokio::test]
async fn the_tag_of_a_read_or_change_is_good_for_the_next_change() {
    let app = TestApp::start().await;
    let read = tag(&send(app.admin("GET", &product())).await);
    let change = || app.admin("PATCH", &product()).json(&json!({}));
    let changed = send(change().header("if-match", &read)).await;
    assert_eq!(changed.status(), 200);
    let again = change().header("if-match", tag(&changed));
    assert_eq!(send(again).await.status(), 200);
    let calls = app.services.take_calls();
    let versions: Vec<_> = calls[1..]
        .iter()
        .map(|call| &call.metadata["guerdon-if-version"])
        .collect();
    let version = read
        .trim_matches('"')
        .split('.')
        .next()
        .expect("a version")
        .to_owned();
    assert_eq!(versions, [&version, &version]);
}

#[tokio::test]
async fn a_service_that_finds_another_version_leads_to_412() {
    let app = TestApp::start().await;
    let stale = Failure::new(Code::PreconditionFailed, "the resource has changed");
    app.services.fail("ProductService/UpdateProduct", stale);
    let request = app.admin("PATCH", &product()).json(&json!({}));
    let request = request.header("if-match", "\"7.0a\"");
    problem(request, 412, "precondition_failed").await;
}
