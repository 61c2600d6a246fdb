//! Invalid input and credentials: the problem documents, and that nothing changes.

use e2e::{TestApp, usd};
use reqwest::Method;
use serde_json::{Value, json};
use stack::{Auth, StackOptions};

use crate::bombs;

const INVALID_AMOUNTS: [&str; 12] = [
    "1e3", "+5", "-5", "0", "0.00", ".5", "5.", "1_000", " 5", "0x10", "00005", "",
];

#[tokio::test(flavor = "multi_thread")]
async fn invalid_requests_are_refused_and_change_nothing() {
    let mut options = StackOptions::for_test("errors").expect("options");
    options.auth = Auth::Required;
    let app = TestApp::start(options).await;
    let key = app.stack.wiring().secrets.api_key.clone();

    let anonymous = app.get("/products").await;
    assert_eq!(anonymous.status.as_u16(), 401);
    let app = app.with_header("apikey", &key);
    check_credentials(&app).await;

    let (ada, bob) = (app.create_user("ada").await, app.create_user("bob").await);
    app.deposit(&ada["primaryWalletId"], "10.00").await;
    check_transfers(&app, &ada, &bob).await;
    check_orders(&app, &ada, &bob["id"]).await;
    check_queries(&app).await;
    bombs::check(&app).await;
    assert_eq!(app.get("/orders").await.body["total"], 0);
    assert_eq!(app.balance(&ada["primaryWalletId"]).await, usd("10.00"));
    assert_eq!(app.balance(&bob["primaryWalletId"]).await, "0.00000000");
    app.assert_settled().await;
}

async fn check_credentials(app: &TestApp) {
    assert_eq!(app.get("/products").await.status.as_u16(), 200);
    let client = reqwest::Client::new();
    let url = format!("{}/products", app.base());
    for wrong in ["gk_wrong", ""] {
        let request = client.request(Method::GET, &url).header("apikey", wrong);
        let response = request.send().await.expect("a response");
        assert_eq!(response.status().as_u16(), 401);
        assert_eq!(
            response.headers()["content-type"],
            "application/problem+json"
        );
    }
    let key = &app.stack.wiring().secrets.api_key;
    let response = client.get(&url).bearer_auth(key).send().await;
    assert_eq!(response.expect("a response").status().as_u16(), 200);
}

async fn check_transfers(app: &TestApp, from: &Value, to: &Value) {
    let path = "/transactions/transfer";
    let transfer = |amount: &str| {
        json!({
            "amount": amount, "assetCode": "usd", "code": "internal", "commit": true,
            "originWalletId": from["primaryWalletId"],
            "destinationWalletId": to["primaryWalletId"],
        })
    };
    for amount in INVALID_AMOUNTS {
        let problem = app
            .expect_error(path, transfer(amount), 422, "validation_failed")
            .await;
        assert_eq!(problem["errors"][0]["field"], "amount", "{amount}");
    }
    app.expect_error(path, transfer("1.001"), 422, "amount_precision")
        .await;
    app.expect_error(path, transfer("10.01"), 422, "insufficient_funds")
        .await;
    let mut to_itself = transfer("1");
    to_itself["destinationWalletId"] = from["primaryWalletId"].clone();
    app.expect_error(path, to_itself, 422, "validation_failed")
        .await;
}

async fn check_orders(app: &TestApp, buyer: &Value, unknown_product: &Value) {
    let coffee = app.create_product("Coffee", "12.50", "0").await;
    let order = |line: Value| json!({ "userId": buyer["id"], "lines": [line] });
    let line = json!({ "productId": unknown_product });
    let problem = app
        .expect_error("/orders", order(line), 422, "validation_failed")
        .await;
    assert_eq!(problem["errors"][0]["field"], "lines[0].productId");
    for line in [
        json!({ "productId": coffee["id"], "quantity": 0 }),
        json!({ "productId": coffee["id"], "qty": 1 }),
    ] {
        app.expect_error("/orders", order(line), 422, "validation_failed")
            .await;
    }
    let mut unaffordable = order(json!({ "productId": coffee["id"] }));
    unaffordable["walletId"] = buyer["primaryWalletId"].clone();
    app.expect_error("/orders", unaffordable, 422, "insufficient_funds")
        .await;
}

async fn check_queries(app: &TestApp) {
    for query in [
        "filter[nope]=1",
        "sort=password",
        "page[size]=0",
        "include=everything",
    ] {
        let response = app.get(&format!("/products?{query}")).await;
        assert_eq!(
            response.body["code"], "invalid_query",
            "{query}: {response:?}"
        );
    }
}
