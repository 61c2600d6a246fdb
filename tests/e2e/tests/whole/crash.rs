//! Crashes during a payment: the order ends paid, exactly once.

use std::time::Duration;

use e2e::{TestApp, text, usd};
use serde_json::json;
use stack::StackOptions;

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_completes_after_orders_svc_crashes_with_an_open_claim() {
    pay_with_crash("orders-svc", "orders.pay.claimed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_completes_after_orders_svc_crashes_before_settling_it() {
    pay_with_crash("orders-svc", "orders.pay.posted").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_completes_after_wallet_svc_crashes_before_its_response() {
    pay_with_crash("wallet-svc", "wallet.post.committed").await;
}

/// Pays an order while a process crashes, and waits until the recovery completes the payment.
async fn pay_with_crash(program: &str, failpoint: &str) {
    let app = TestApp::start(StackOptions::for_test("crash").expect("options")).await;
    let buyer = app.create_user("ada").await;
    let wallet = &buyer["primaryWalletId"];
    app.deposit(wallet, "100.00").await;
    let tea = app.create_product("Tea", "8", "0.8").await;
    let body = json!({ "userId": buyer["id"], "lines": [{ "productId": tea["id"] }] });
    let order = app.create("/orders", body).await;
    let path = format!("/orders/{}", text(&order["id"]));

    crash_at(&app, program, failpoint, &path).await;
    app.eventually(|| async {
        let response = app.get(&path).await;
        let is_paid = response.body["data"]["paymentStatus"] == "fully_paid";
        is_paid.then_some(()).ok_or_else(|| format!("{response:?}"))
    })
    .await;
    // 100.00 - 9.60 + 0.80 of bonus.
    app.wait_for_balance(wallet, &usd("91.20")).await;
    let payments = format!(
        "/transactions?filter[walletId]={}&filter[code]=pay",
        text(wallet)
    );
    assert_eq!(app.get(&payments).await.body["total"], 1);
    app.expect_error(&format!("{path}/pay"), json!({}), 409, "invalid_state")
        .await;
    app.assert_settled().await;
}

/// Sends a payment that makes the process kill itself, and starts the process again.
async fn crash_at(app: &TestApp, program: &str, failpoint: &str, order: &str) {
    let failpoints = [("FAILPOINTS".to_owned(), format!("{failpoint}=kill"))];
    app.stack.stop(program).expect("it runs");
    app.stack
        .start_again(program, &failpoints)
        .expect("it starts again");
    let response = app.post(&format!("{order}/pay"), json!({})).await;
    assert!(response.status.is_server_error(), "{response:?}");
    app.stack
        .wait_for_exit(program, Duration::from_mins(1))
        .expect("it kills itself");
    app.stack
        .start_again(program, &[])
        .expect("it starts again");
}
