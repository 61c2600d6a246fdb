//! Deleting a user: the wallets, the orders and the email afterwards, and crashes in between.

use std::time::Duration;

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

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_completes_after_identity_svc_crashes_with_an_open_claim() {
    delete_with_crash("identity.user.deletion_claimed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_completes_after_identity_svc_crashes_before_erasing_the_user() {
    delete_with_crash("identity.user.wallets_closed").await;
}

/// Deletes a user while identity-svc crashes, and waits until the recovery completes the deletion.
async fn delete_with_crash(failpoint: &str) {
    const IDENTITY: &str = "identity-svc";
    let app = TestApp::start(StackOptions::for_test("deletion").expect("options")).await;
    let user = app.create_user("ada").await;
    let path = format!("/users/{}", text(&user["id"]));
    let failpoints = [("FAILPOINTS".to_owned(), format!("{failpoint}=kill"))];
    app.stack.stop(IDENTITY).expect("it runs");
    app.stack
        .start_again(IDENTITY, &failpoints)
        .expect("it starts again");
    let response = app.delete(&path).await;
    assert!(response.status.is_server_error(), "{response:?}");
    app.stack
        .wait_for_exit(IDENTITY, Duration::from_mins(1))
        .expect("it kills itself");
    app.stack
        .start_again(IDENTITY, &[])
        .expect("it starts again");
    app.eventually(|| async {
        let response = app.get(&path).await;
        let is_gone = response.status == 404;
        is_gone.then_some(()).ok_or_else(|| format!("{response:?}"))
    })
    .await;
    app.assert_settled().await;
}
