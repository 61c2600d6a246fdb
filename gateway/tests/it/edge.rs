//! Request ids, deadlines and pages of the edge.

use platform::error::Code;
use reqwest::StatusCode;

use crate::harness::{ID, TestApp, assert_status, problem};

#[tokio::test]
async fn a_usable_request_id_is_kept_and_another_replaced() {
    let app = TestApp::start().await;
    let longest = "x".repeat(128);
    for id in ["abc", "a b", &longest] {
        let request = app
            .anonymous("GET", "/openapi.json")
            .header("x-request-id", id);
        let response = assert_status(request, StatusCode::OK).await;
        assert_eq!(response.headers()["x-request-id"], id);
    }
    for id in ["", &"x".repeat(129), "é"] {
        let request = app.anonymous("GET", "/openapi.json");
        let request = request.header("x-request-id", id.as_bytes());
        let response = assert_status(request, StatusCode::OK).await;
        assert_eq!(response.headers()["x-request-id"].len(), 36, "{id}");
    }
}

#[tokio::test]
async fn every_request_gets_another_id() {
    let app = TestApp::start().await;
    let mut ids = std::collections::HashSet::new();
    for path in ["/openapi.json", "/nope", "/products"] {
        let response = app.anonymous("GET", path).send().await.unwrap();
        let id = response.headers()["x-request-id"].clone();
        assert!(ids.insert(id), "{path}");
    }
}

#[tokio::test]
async fn a_problem_shows_the_request_id() {
    let app = TestApp::start().await;
    let request = app.admin("GET", "/nope").header("x-request-id", "mine");
    let document = problem(request, 404, "route_not_found").await;
    assert_eq!(document["requestId"], "mine");
    assert_eq!(document["instance"], "/nope");
}

#[tokio::test]
async fn a_service_that_does_not_respond_leads_to_503_within_three_seconds() {
    let app = TestApp::start().await;
    app.services.hang("WalletService/GetWallet");
    let started = std::time::Instant::now();
    let path = format!("/wallets/{ID}");
    problem(app.admin("GET", &path), 503, "unavailable").await;
    assert!(started.elapsed().as_millis() < 3_500);
    // Others go on.
    assert_eq!(app.get("/wallets").await.status, 200);
}

#[tokio::test]
async fn the_deadline_is_passed_to_services() {
    let app = TestApp::start().await;
    let exchange = app.get("/products").await;
    let timeout = &exchange.call().metadata["grpc-timeout"];
    assert!(
        timeout
            .to_str()
            .unwrap()
            .ends_with(|unit: char| unit.is_ascii_alphabetic())
    );
}

#[tokio::test]
async fn the_errors_page_lists_every_public_code() {
    let app = TestApp::start().await;
    let page = app.exchange(app.anonymous("GET", "/docs/errors")).await;
    let page = page.body.as_str().expect("HTML");
    for code in Code::all() {
        let is_listed = page.contains(&format!("<tr id=\"{code}\">"));
        assert_eq!(is_listed, code.is_public(), "{code}");
    }
}
