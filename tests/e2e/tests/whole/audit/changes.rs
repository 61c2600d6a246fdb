//! Every route that changes something, called once as it succeeds, writes an entry; and every action of the
//! table of RPCs is seen.

use std::collections::BTreeSet;

use e2e::{TestApp, text};
use proto::access;
use reqwest::Method;
use serde_json::{Value, json};
use stack::StackOptions;

use crate::access::{Row, rows, samples::Samples};

/// The routes that issue and end tokens, or ask for a mail, which leaves no entry.
const UNAUDITED: [&str; 6] = [
    "/users/forgot-password",
    "/users/resend-confirmation",
    "/auth/token",
    "/auth/token/refresh",
    "/auth/token/revoke",
    "/auth/token/validate",
];

#[tokio::test(flavor = "multi_thread")]
async fn every_change_has_its_entry() {
    let app = TestApp::start(StackOptions::for_test("changes").expect("options")).await;
    let samples = Samples::create(&app).await;
    let rate = json!({"baseAssetCode": "usd", "quoteAssetCode": "eur", "rate": "0.9"});
    app.create("/rates", rate).await;
    let mut wrong = Vec::new();
    for row in rows() {
        if row.method == Method::GET || UNAUDITED.contains(&row.path) {
            continue;
        }
        let path = samples.path(&app, row.path, false).await;
        let (path, body) = prepare(&app, &samples, &row, path).await;
        let before = own_entries(&app).await;
        let response = app.send(row.method.clone(), &path, body.as_ref()).await;
        let after = own_entries(&app).await;
        let (method, path) = (&row.method, row.path);
        if !response.status.is_success() {
            wrong.push(format!("{method} {path} is refused: {response:?}"));
        } else if after.is_subset(&before) {
            wrong.push(format!("{method} {path} has no entry"));
        }
    }
    let missing = unseen_actions(&app).await;
    wrong.extend(
        missing
            .into_iter()
            .map(|action| format!("{action} has no entry")),
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the ids of the newest entries about what no service did by itself.
async fn own_entries(app: &TestApp) -> BTreeSet<String> {
    let entries = app.get_data("/audit-log?page[size]=200").await;
    let entries = entries.as_array().expect("entries").iter();
    entries
        .filter(|entry| !text(&entry["actor"]).starts_with("service:"))
        .map(|entry| text(&entry["id"]).to_owned())
        .collect()
}

/// Returns the actions of the table of RPCs that no entry has.
async fn unseen_actions(app: &TestApp) -> Vec<&'static str> {
    let rows = access::TABLES.iter().flat_map(|table| table.rows);
    let actions: BTreeSet<_> = rows.filter_map(|row| row.action).collect();
    let mut unseen = Vec::new();
    for action in actions {
        let path = format!("/audit-log?page[size]=1&filter[action]={action}");
        if app.get(&path).await.body["total"] == 0 {
            unseen.push(action);
        }
    }
    unseen
}

/// Brings what a path names into a state in which the route changes it, and returns the path and a body that
/// is accepted.
async fn prepare(
    app: &TestApp,
    samples: &Samples,
    row: &Row,
    path: String,
) -> (String, Option<Value>) {
    let route = row.path;
    let (parent, action) = path.rsplit_once('/').expect("a path");
    match action {
        "unblock" | "unlock" => send(app, &format!("{parent}/block")).await,
        "unfulfill" => send(app, &format!("{parent}/fulfill")).await,
        "refund" => send(app, &format!("{parent}/pay")).await,
        // It goes to the end, and so behind another one.
        "reorder" => {
            let list = route.split("/{").next().unwrap_or_default();
            let place = if route.contains("/questions/") {
                format!("{list}/{{productId}}/questions/{{id}}")
            } else {
                format!("{list}/{{id}}")
            };
            add_behind(app, samples, &place, &path).await;
        }
        _ => {}
    }
    if route == "/users/{id}/approve" {
        let user = json!({"email": "waiting@example.com", "password": "Correct1Horse"});
        let user = app.create("/users", user).await;
        return (format!("/users/{}/approve", text(&user["id"])), None);
    }
    let has_body = row.method != Method::DELETE;
    let body = if has_body {
        Some(body(app, samples, row).await)
    } else {
        None
    };
    (path, body)
}

async fn send(app: &TestApp, path: &str) {
    let response = app.post(path, json!({})).await;
    assert!(response.status.is_success(), "{path}: {response:?}");
}

/// Creates another thing of the same list.
async fn add_behind(app: &TestApp, samples: &Samples, place: &str, path: &str) {
    if place.contains("/questions/") {
        let question = question(app).await;
        let product = path.split('/').nth(2).expect("a product");
        let link = json!({"questionId": question["id"]});
        app.create(&format!("/products/{product}/questions"), link)
            .await;
    } else {
        samples.path(app, place, false).await;
    }
}

async fn question(app: &TestApp) -> Value {
    let question = json!({"title": "Colour", "typeCode": "text", "productTypeCode": "physical"});
    app.create("/questions", question).await
}

/// Returns a body with which the route changes something.
async fn body(app: &TestApp, samples: &Samples, row: &Row) -> Value {
    let is_new = row.method == Method::POST;
    match row.path {
        "/products" | "/products/import" => {
            let category = app.create("/categories", json!({"title": "Toys"})).await;
            let product = json!({"name": "Ball", "price": "1", "categoryId": category["id"]});
            if row.path == "/products" {
                product
            } else {
                json!([product])
            }
        }
        "/products/{id}" => json!({"featured": true}),
        "/products/{id}/questions" => json!({"questionId": question(app).await["id"]}),
        "/questions" => json!({"title": "Size", "typeCode": "text", "productTypeCode": "physical"}),
        "/questions/{id}" => json!({"title": "Length"}),
        "/categories" => json!({"title": "Games"}),
        "/categories/{id}" => json!({"title": "Plays"}),
        "/tax-rates" => json!({"name": "Reduced", "rate": "6"}),
        "/tax-rates/{id}" => json!({"rate": "7"}),
        "/api-keys" => json!({"name": "Kiosk", "roles": ["user"]}),
        "/users" => json!({"email": "new@example.com", "password": "Correct1Horse"}),
        "/users/{id}" => json!({"locale": "pt"}),
        "/users/{id}/change-password" => json!({"password": "Another1Horse"}),
        "/users/{id}/change-email" => json!({"email": "changed@example.com"}),
        "/users/reset-password" => {
            let token = mailed_token(app, "forgot-password", "reset-password").await;
            json!({"token": token, "password": "Another1Horse"})
        }
        "/users/confirm-email" => {
            json!({"token": mailed_token(app, "resend-confirmation", "confirm-email").await})
        }
        "/tasks" => json!({"name": "Visit", "description": "Come by", "type": "manual",
            "amount": "1"}),
        "/tasks/{id}" => json!({"name": "Visit us"}),
        "/tasks/{id}/complete" => json!({"userId": samples.owner["id"]}),
        "/orders/{id}/notes" => json!({"text": "Called back"}),
        "/orders/{id}" if is_new => json!({"reason": "changed my mind"}),
        "/orders/{id}" | "/order/{id}" => {
            json!({"trackingId": "0192abcd-0000-7000-8000-00000000000f"})
        }
        "/transactions/deposit" => json!({"amount": "1", "assetCode": "usd", "code": "internal",
            "data": {}, "destinationWalletId": samples.owner["primaryWalletId"]}),
        "/rates" => json!({"baseAssetCode": "usd", "quoteAssetCode": "btc", "rate": "0.1"}),
        "/rates/{baseAssetCode}/{quoteAssetCode}" => json!({"rate": "0.8"}),
        "/assets" => json!({"code": "AUDIT", "name": "Audit"}),
        "/assets/{code}" => json!({"customData": {"colour": "red"}}),
        "/wallets" => json!({"name": "Kiosk"}),
        "/wallets/{id}" => json!({"name": "Safe"}),
        "/webhooks" => json!({"url": "https://shop.example/audit", "events": ["user.*"]}),
        "/webhooks/{id}" => json!({"description": "Shop"}),
        "/addresses" => json!({"address": "audited-address"}),
        // Those of which the ownership is checked, and actions without fields.
        _ => samples.body(row.path),
    }
}

/// Creates a user, asks for a mail, and returns the token in it.
async fn mailed_token(app: &TestApp, ask: &str, page: &str) -> String {
    let user = app.create_user(page).await;
    let email = text(&user["email"]);
    let asked = app
        .post(&format!("/users/{ask}"), json!({"email": email}))
        .await;
    assert!(asked.status.is_success(), "{asked:?}");
    app.mailed_token(email, page).await
}
