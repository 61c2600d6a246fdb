//! `Accept`: what a client takes, and what routes produce.

use reqwest::RequestBuilder;

use crate::{
    harness::{ID, TestApp, problem},
    operations,
};

fn accepting(request: RequestBuilder, accept: &str) -> RequestBuilder {
    request.header("accept", accept)
}

#[tokio::test]
async fn every_route_with_a_body_refuses_clients_that_take_none_of_it() {
    let app = TestApp::start().await;
    for operation in operations::all() {
        let (method, path) = (&operation.method, &operation.path);
        let exchange = app
            .exchange(accepting(operation.request(&app), "text/csv, image/*"))
            .await;
        let Some(offered) = &operation.produces else {
            assert_eq!(exchange.status, 204, "{method} {path}");
            continue;
        };
        let document = exchange.problem(406, "not_acceptable");
        let detail = document["detail"].as_str().expect("a text");
        assert!(detail.contains(offered), "{method} {path}: {detail}");
        assert!(
            exchange.calls.is_empty(),
            "{method} {path}: nothing is done"
        );
    }
}

#[tokio::test]
async fn ranges_that_hold_what_is_produced_are_accepted() {
    let app = TestApp::start().await;
    let path = format!("/products/{ID}");
    for accept in [
        "*/*",
        "*",
        "application/*",
        "application/json",
        "application/json; charset=utf-8",
        "application/json, text/plain, */*",
        "text/html;q=0.9, application/json;q=0.001",
        "",
        "nonsense",
        "application/json;q=high",
    ] {
        let exchange = app
            .exchange(accepting(app.admin("GET", &path), accept))
            .await;
        assert_eq!(exchange.status, 200, "{accept}");
    }
    for accept in [
        "application/xml",
        "application/problem+json",
        "application/json;q=0",
        "*/*;q=1, application/json;q=0.0",
        "application/*;q=0, */*",
    ] {
        problem(
            accepting(app.admin("GET", &path), accept),
            406,
            "not_acceptable",
        )
        .await;
    }
    let lines = [app.admin("GET", &path), app.admin("GET", &path)];
    for (request, accept) in lines.into_iter().zip(["application/json", "text/css"]) {
        // A header may come in several lines.
        let request = request
            .header("accept", "text/html")
            .header("accept", accept);
        let exchange = app.exchange(request).await;
        let status = if accept == "text/css" { 406 } else { 200 };
        assert_eq!(exchange.status, status, "{accept}");
    }
}

#[tokio::test]
async fn head_is_refused_like_get_and_errors_are_problems_whatever_is_accepted() {
    let app = TestApp::start().await;
    let head = app.admin("HEAD", "/products").header("accept", "text/html");
    let head = app.exchange(head).await;
    assert_eq!((head.status, head.calls.len()), (406, 0));
    let missing = accepting(app.admin("GET", "/products/x"), "application/json");
    problem(missing, 404, "product_not_found").await;
    let unknown = accepting(app.admin("GET", "/nope"), "text/html");
    problem(unknown, 404, "route_not_found").await;
}

#[tokio::test]
async fn credentials_are_checked_first() {
    let app = TestApp::start().await;
    let request = accepting(app.anonymous("GET", "/products"), "text/html");
    problem(request, 401, "unauthenticated").await;
    let request = accepting(app.user("GET", "/products/export"), "text/html");
    problem(request, 403, "forbidden").await;
}

#[tokio::test]
async fn the_home_page_has_two_forms_and_the_others_one() {
    let app = TestApp::start().await;
    for (path, accept, expected) in [
        ("/", "*/*", "application/json"),
        ("/", "application/json, text/html", "application/json"),
        (
            "/",
            "text/html,application/xml;q=0.9,*/*;q=0.8",
            "text/html; charset=utf-8",
        ),
        (
            "/",
            "application/json;q=0.5, text/html",
            "text/html; charset=utf-8",
        ),
        ("/docs/errors", "text/html", "text/html; charset=utf-8"),
        ("/openapi.json", "application/json", "application/json"),
    ] {
        let request = accepting(app.anonymous("GET", path), accept);
        let response = request.send().await.expect("a response");
        assert_eq!(
            response.headers()["content-type"],
            expected,
            "{path} {accept}"
        );
    }
    for path in ["/", "/docs/errors", "/openapi.json"] {
        let request = accepting(app.anonymous("GET", path), "image/png");
        problem(request, 406, "not_acceptable").await;
    }
}
