//! The demo shop of `cargo stack up --seed demo`.

use e2e::{TestApp, text, usd};
use reqwest::Method;
use serde_json::Value;
use stack::{
    Auth, StackOptions,
    demo::{self, Created},
};

async fn seed(app: &TestApp, key: &str) -> Result<Created, String> {
    let (base, key) = (app.base().to_owned(), key.to_owned());
    let seed = tokio::task::spawn_blocking(move || demo::seed(&base, &key));
    seed.await
        .expect("no panic")
        .map_err(|error| format!("{error:#}"))
}

async fn total(app: &TestApp, list: &str) -> u64 {
    let response = app.get(list).await;
    response.body["total"]
        .as_u64()
        .unwrap_or_else(|| panic!("{list}: {response:?}"))
}

async fn user(app: &TestApp, email: &str) -> Value {
    let mut users = app.get_data(&format!("/users?filter[email]={email}")).await;
    users[0].take()
}

/// Returns all resources that only the seed writes.
async fn seeded_resources(app: &TestApp) -> Vec<Value> {
    let mut lists = Vec::new();
    for list in [
        "/categories?page[size]=100",
        "/tax-rates?page[size]=100",
        "/questions?page[size]=100",
        "/products?page[size]=100&include=questions",
        "/users?page[size]=100",
        "/tasks?page[size]=100",
        "/orders?page[size]=100&include=lines",
        "/transactions?page[size]=100&filter[code]=in:bank:wire,pay,refund",
    ] {
        lists.push(app.get_data(list).await);
    }
    lists
}

#[tokio::test(flavor = "multi_thread")]
async fn seeding_the_demo_shop_again_creates_only_what_is_missing() {
    let mut options = StackOptions::for_test("demo").expect("options");
    options.auth = Auth::Required;
    let app = TestApp::start(options).await;
    let key = app.stack.wiring().secrets.api_key.clone();
    let app = app.with_header("apikey", &key);

    let error = seed(&app, "gk_wrong").await.expect_err("a wrong key");
    let request = "GET /tax-rates?filter[name]=Standard was refused: 401 unauthenticated";
    assert!(error.contains(request), "{error}");

    let created = seed(&app, &key).await.expect("the shop is created");
    check_counts(&app, &created).await;
    check_order_states(&app).await;
    check_balances(&app).await;

    let before = seeded_resources(&app).await;
    let again = seed(&app, &key).await.expect("the shop exists");
    assert!(again.is_empty(), "{again:?}");
    assert_eq!(seeded_resources(&app).await, before);

    let throw = app.get_data("/products?filter[name]=Wool%20Throw").await;
    let path = format!("/products/{}", text(&throw[0]["id"]));
    let deleted = app.send(Method::DELETE, &path, None).await;
    assert_eq!(deleted.status.as_u16(), 204);
    let missing = seed(&app, &key).await.expect("the shop is completed");
    assert_eq!(missing, Created::from([("products", 1)]));
    app.assert_settled().await;
}

async fn check_counts(app: &TestApp, created: &Created) {
    for (list, kind, count) in [
        ("/tax-rates", "tax rates", 3),
        ("/categories", "categories", 5),
        ("/questions", "questions", 5),
        ("/products", "products", 30),
        ("/users", "users", 4),
        ("/tasks", "tasks", 4),
        ("/orders", "orders", 7),
    ] {
        assert_eq!(created[kind] as u64, count, "{created:?}");
        assert_eq!(total(app, list).await, count, "{list}");
    }
    assert_eq!(created["deposits"], 5, "{created:?}");
}

async fn check_balances(app: &TestApp) {
    // 290.00 of deposits; two orders (97.68 and 86.90) earned 8.20, two tasks 4.50.
    let ada = user(app, "ada@demo.example").await;
    app.wait_for_balance(&ada["primaryWalletId"], &usd("118.12"))
        .await;
    // 80.00 of deposits; one order was refunded, a gift card cost 25.00.
    let chiara = user(app, "chiara@demo.example").await;
    app.wait_for_balance(&chiara["primaryWalletId"], &usd("55.00"))
        .await;
}

async fn check_order_states(app: &TestApp) {
    for (filter, count) in [
        ("filter[paymentStatus]=unpaid", 2),
        ("filter[paymentStatus]=paid", 1),
        ("filter[paymentStatus]=fully_paid", 3),
        ("filter[paymentStatus]=fully_refunded", 1),
        ("filter[orderStatus]=fulfilled", 2),
        ("filter[orderStatus]=canceled", 1),
    ] {
        let orders = format!("/orders?{filter}");
        assert_eq!(total(app, &orders).await, count, "{filter}");
    }
    let linked = app
        .get_data("/products?include=questions&filter[name]=Latte%20Art%20Course")
        .await;
    let questions = linked[0]["questions"].as_array().expect("questions");
    assert_eq!(questions.len(), 2, "{linked}");
}
