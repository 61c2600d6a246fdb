//! HEAD, OPTIONS, methods that a route lacks, and paths that lead nowhere.

use std::collections::{BTreeMap, BTreeSet};

use reqwest::StatusCode;

use crate::{
    harness::{ID, TestApp, assert_status, problem, problem_of},
    operations,
};

/// The methods of every path, as `Allow` lists them.
fn allowed() -> BTreeMap<String, BTreeSet<String>> {
    let mut allowed = BTreeMap::<_, BTreeSet<_>>::new();
    for operation in operations::all() {
        let methods = allowed.entry(operation.url()).or_default();
        if operation.method == "GET" {
            methods.insert("HEAD".to_owned());
        }
        methods.insert(operation.method);
    }
    allowed
}

fn methods(header: &reqwest::header::HeaderValue) -> BTreeSet<String> {
    let header = header.to_str().expect("ASCII");
    header.split(',').map(str::to_owned).collect()
}

#[tokio::test]
async fn options_lists_the_methods_of_every_path_without_credentials() {
    let app = TestApp::start().await;
    for (path, expected) in allowed() {
        let request = app.anonymous("OPTIONS", &path);
        let response = assert_status(request, StatusCode::NO_CONTENT).await;
        assert_eq!(methods(&response.headers()["allow"]), expected, "{path}");
        assert!(!response.headers().contains_key("content-type"), "{path}");
        assert!(!response.headers().contains_key("content-length"), "{path}");
    }
}

#[tokio::test]
async fn a_method_that_the_path_lacks_is_405() {
    let app = TestApp::start().await;
    for (path, expected) in allowed() {
        for method in ["PUT", "TRACE"] {
            let response = app.admin(method, &path).send().await.unwrap();
            assert_eq!(methods(&response.headers()["allow"]), expected, "{path}");
            problem_of(response, 405, "method_not_allowed").await;
        }
    }
}

#[tokio::test]
async fn head_responds_like_get_without_a_body() {
    let app = TestApp::start().await;
    let reads = operations::all();
    for operation in reads.iter().filter(|operation| operation.method == "GET") {
        let head = app.exchange(app.admin("HEAD", &operation.url())).await;
        assert_eq!(head.status, 200, "{}", operation.path);
        assert!(head.body.is_null(), "{}", operation.path);
        assert!(!head.calls.is_empty(), "{}", operation.path);
    }
}

#[tokio::test]
async fn a_trailing_slash_is_ignored() {
    let app = TestApp::start().await;
    for path in ["/orders/", "/orders//", "/orders/?page[size]=2"] {
        let exchange = app.get(path).await;
        assert_eq!(exchange.status, 200, "{path}");
        assert_eq!(exchange.calls[0].rpc, "OrderService/ListOrders", "{path}");
    }
}

#[tokio::test]
async fn unknown_paths_are_not_found() {
    let app = TestApp::start().await;
    for path in [
        "/nope",
        "//products",
        "/Products",
        "/products;x=1",
        "/docs/nope/x/",
    ] {
        problem(app.admin("GET", path), 404, "route_not_found").await;
    }
}

#[tokio::test]
async fn malformed_ids_in_paths_are_not_found() {
    let app = TestApp::start().await;
    let braced = format!("{{{ID}}}");
    for id in [
        "abc",
        "123",
        &ID.replace('-', ""),
        &braced,
        "%00",
        "%20",
        "*",
    ] {
        problem(
            app.admin("GET", &format!("/products/{id}")),
            404,
            "product_not_found",
        )
        .await;
    }
    problem(app.admin("GET", "/products/%ff"), 404, "route_not_found").await;
    assert!(
        app.services.take_calls().is_empty(),
        "no service was called"
    );
}

#[tokio::test]
async fn each_malformed_id_names_its_own_resource() {
    let app = TestApp::start().await;
    for (path, code) in [
        ("/categories/x", "category_not_found"),
        ("/questions/x", "question_not_found"),
        ("/tax-rates/x", "tax_rate_not_found"),
        ("/orders/x", "order_not_found"),
        ("/orders/x/lines", "order_not_found"),
        (&format!("/orders/{ID}/lines/x"), "order_line_not_found"),
        ("/movements/x", "movement_not_found"),
        ("/transactions/x", "transaction_not_found"),
        ("/wallets/x", "wallet_not_found"),
        ("/wallets/x/balance", "wallet_not_found"),
        ("/wallets/x/activity", "wallet_not_found"),
        ("/users/x", "user_not_found"),
        ("/tasks/x", "task_not_found"),
    ] {
        problem(app.admin("GET", path), 404, code).await;
    }
    let link = format!("/products/{ID}/questions/x");
    problem(
        app.admin("DELETE", &link),
        404,
        "product_question_not_found",
    )
    .await;
}

#[tokio::test]
async fn ids_in_paths_are_sent_in_lower_case() {
    let app = TestApp::start().await;
    let upper = "01920000-0000-7000-8000-00000000ABCD";
    let exchange = app.get(&format!("/wallets/{upper}")).await;
    assert_eq!(exchange.call().message["id"], upper.to_lowercase());
}

#[tokio::test]
async fn other_path_parameters_are_sent_decoded_as_they_are() {
    let app = TestApp::start().await;
    for (path, name, value) in [
        ("/assets/GOLD", "code", "GOLD"),
        ("/addresses/bitcoin:1x%3Fy%25", "address", "bitcoin:1x?y%"),
        ("/payment-methods/a%20b", "slug", "a b"),
        ("/rates/Points/usd", "base_asset_code", "Points"),
    ] {
        let exchange = app.get(path).await;
        assert_eq!(exchange.call().message[name], value, "{path}");
    }
}
