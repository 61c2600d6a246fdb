//! Deleting a user: the wallets, the orders and the email afterwards.

use e2e::{TestApp, text};
use serde_json::json;
use stack::StackOptions;

#[tokio::test(flavor = "multi_thread")]
async fn a_user_with_money_stays_and_one_without_leaves_its_orders_behind() {
    let app = TestApp::start(StackOptions::for_test("deletion").expect("options")).await;
    let buyer = app.create_user("ada").await;
    let path = format!("/users/{}", text(&buyer["id"]));
    let wallet = &buyer["primaryWalletId"];
    app.deposit(wallet, "9.60").await;
    let tea = app.create_product("Tea", "8", "0").await;
    let body = json!({ "userId": buyer["id"], "lines": [{ "productId": tea["id"] }] });
    let order = app.create("/orders", body.clone()).await;
    let unpaid = app.create("/orders", body.clone()).await;

    let refused = app.delete(&path).await;
    assert_eq!(refused.status, 409, "{refused:?}");
    assert_eq!(refused.body["code"], "invalid_state");

    let order_path = format!("/orders/{}", text(&order["id"]));
    app.post(&format!("{order_path}/pay"), json!({})).await;
    let deleted = app.delete(&path).await;
    assert_eq!(deleted.status, 204, "{deleted:?}");
    assert_eq!(app.get(&path).await.status, 404);
    let shown = &app.get(&order_path).await.body["data"]["user"];
    assert_eq!(shown["id"], buyer["id"]);
    assert_eq!(shown["email"], json!(null));
    let unpaid = format!("/orders/{}", text(&unpaid["id"]));
    assert_eq!(
        app.get(&unpaid).await.body["data"]["paymentStatus"],
        "unpaid"
    );
    let canceled = app.post(&format!("{unpaid}/cancel"), json!({})).await;
    assert_eq!(canceled.status, 200, "{canceled:?}");
    assert_eq!(canceled.body["data"]["user"]["id"], buyer["id"]);
    let wallet = app.get(&format!("/wallets/{}", text(wallet))).await;
    assert_eq!(wallet.body["data"]["locked"], true);
    app.expect_error("/orders", body, 422, "validation_failed")
        .await;

    let again = json!({ "email": buyer["email"], "password": "Correct1Horse" });
    let again = app.create("/users", again).await;
    assert_ne!(again["id"], buyer["id"]);
    app.assert_settled().await;
}
