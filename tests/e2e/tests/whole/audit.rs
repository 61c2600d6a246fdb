//! The audit log of all services as one list.

mod changes;

use std::collections::BTreeSet;

use e2e::{TestApp, text};
use reqwest::StatusCode;
use serde_json::{Value, json};
use stack::StackOptions;

#[tokio::test(flavor = "multi_thread")]
async fn the_audit_log_shows_the_changes_of_all_services() {
    let app = TestApp::start(StackOptions::for_test("audit").expect("options")).await;
    let buyer = make_changes(&app).await;
    let whole = app.get("/audit-log?page[size]=1000").await.body;
    let entries = whole["data"].as_array().expect("entries");
    assert_eq!(whole["total"], entries.len());
    assert_eq!(whole["nextCursor"], Value::Null);

    let of_caller = entries
        .iter()
        .filter(|entry| entry["actor"] == "anonymous:anonymous");
    let actions: BTreeSet<_> = of_caller.map(|entry| text(&entry["action"])).collect();
    let expected = [
        "category.created",
        "order.created",
        "order.paid",
        "product.created",
        "tax_rate.created",
        "transaction.confirmed",
        "transaction.created",
        "user.blocked",
        "user.created",
    ];
    assert_eq!(actions.into_iter().collect::<Vec<_>>(), expected);
    // identity-svc asked for the wallet, orders-svc for the payment.
    let by = |actor: &str, action: &str| {
        let mut entries = entries.iter();
        entries.any(|entry| entry["actor"] == actor && entry["action"] == action)
    };
    assert!(by("service:identity-svc", "wallet.created"));
    assert!(by("service:orders-svc", "transaction.created"));
    let times: Vec<_> = entries
        .iter()
        .map(|entry| text(&entry["createdAt"]))
        .collect();
    assert!(times.is_sorted_by(|a, b| a >= b), "newest first");
    // No personal data.
    let shown = whole.to_string();
    assert!(!shown.contains("@example.com") && !shown.contains("Correct1Horse"));

    pages_hold_the_same(&app, entries).await;
    filters_select(&app, &buyer).await;
    no_service_is_left_out(&app).await;
}

/// Changes something in every service, and returns the user whom it was done to.
async fn make_changes(app: &TestApp) -> Value {
    let buyer = app.create_user("ada").await;
    let wallet = &buyer["primaryWalletId"];
    app.deposit(wallet, "100").await;
    let tea = app.create_product("Tea", "8", "0").await;
    let cart = json!({"userId": buyer["id"], "lines": [{"productId": tea["id"]}]});
    let order = app.create("/orders", cart).await;
    let path = format!("/orders/{}/pay", text(&order["id"]));
    app.create(&path, json!({})).await;
    let path = format!("/users/{}/block", text(&buyer["id"]));
    let blocked = app.post(&path, json!({})).await;
    assert_eq!(blocked.status, StatusCode::NO_CONTENT);
    buyer
}

async fn pages_hold_the_same(app: &TestApp, entries: &[Value]) {
    let mut paged = Vec::new();
    let mut path = "/audit-log?page[size]=2".to_owned();
    loop {
        let page = app.get(&path).await.body;
        assert_eq!(page["total"], entries.len());
        paged.extend(page["data"].as_array().expect("entries").iter().cloned());
        let Some(cursor) = page["nextCursor"].as_str() else {
            break;
        };
        path = format!("/audit-log?page[size]=2&page[after]={cursor}");
    }
    assert_eq!(paged, entries);
    let second = app.get_data("/audit-log?page[size]=3&page[number]=2").await;
    assert_eq!(second.as_array().expect("entries")[..], entries[3..6]);
    let deep = app.get("/audit-log?page[size]=1000&page[number]=2").await;
    assert_eq!(deep.status, StatusCode::BAD_REQUEST, "{deep:?}");
}

async fn filters_select(app: &TestApp, buyer: &Value) {
    let path = format!("/audit-log?filter[resourceId]={}", text(&buyer["id"]));
    let of_buyer = app.get_data(&path).await;
    let of_buyer = of_buyer.as_array().expect("entries").iter();
    let actions: Vec<_> = of_buyer.map(|entry| text(&entry["action"])).collect();
    assert_eq!(actions, ["user.blocked", "user.created"]);
    let orders = app.get("/audit-log?filter[service]=orders-svc").await.body;
    assert_eq!(orders["total"], 2);
    let unknown = app.get("/audit-log?filter[email]=a").await;
    assert_eq!(unknown.status, StatusCode::BAD_REQUEST, "{unknown:?}");
}

/// An answer without the entries of one service would look complete.
async fn no_service_is_left_out(app: &TestApp) {
    app.stack.stop("catalog-svc").expect("it runs");
    let refused = app.get("/audit-log").await;
    assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(refused.body["code"], "unavailable");
}
