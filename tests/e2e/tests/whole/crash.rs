//! Processes that die at the worst moment: the order ends paid, once.

use std::time::Duration;

use e2e::{Shop, text, usd};
use serde_json::json;
use stack::StackOptions;

#[tokio::test(flavor = "multi_thread")]
async fn orders_svc_dies_after_the_claim() {
    pay_and_die("orders-svc", "orders.pay.claimed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_svc_dies_before_the_settlement() {
    pay_and_die("orders-svc", "orders.pay.posted").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wallet_svc_dies_between_commit_and_answer() {
    pay_and_die("wallet-svc", "wallet.post.committed").await;
}

/// Pays an order while a process is armed to kill itself, starts it again unarmed, and waits for
/// the recovery to finish what was begun.
async fn pay_and_die(program: &str, failpoint: &str) {
    let shop = Shop::open(StackOptions::for_test("crash").expect("options")).await;
    let buyer = shop.user("ada").await;
    let wallet = &buyer["primaryWalletId"];
    shop.fund(wallet, "100.00").await;
    let tea = shop.product("Tea", "8", "0.8").await;
    let body = json!({ "userId": buyer["id"], "lines": [{ "productId": tea["id"] }] });
    let order = shop.make("/orders", body).await;
    let path = format!("/orders/{}", text(&order["id"]));

    let armed = [("FAILPOINTS".to_owned(), format!("{failpoint}=kill"))];
    shop.stack.stop(program).expect("it runs");
    shop.stack
        .start_again(program, &armed)
        .expect("starts armed");
    let answer = shop.post(&format!("{path}/pay"), json!({})).await;
    assert!(answer.status.is_server_error(), "{answer:?}");
    shop.stack
        .wait_for_end(program, Duration::from_mins(1))
        .expect("it killed itself");
    shop.stack.start_again(program, &[]).expect("starts again");

    shop.until(|| async {
        let answer = shop.get(&path).await;
        let order = &answer.body["data"];
        let is_paid = order["paymentStatus"] == "fully_paid";
        if is_paid {
            Ok(())
        } else {
            Err(format!("the order is {answer:?}"))
        }
    })
    .await;
    // 100.00 - 9.60 + 0.80 of bonus.
    shop.until_balance(wallet, &usd("91.20")).await;
    let payments = format!(
        "/transactions?filter[walletId]={}&filter[code]=pay",
        text(wallet)
    );
    assert_eq!(shop.get(&payments).await.body["total"], 1);
    shop.refused(&format!("{path}/pay"), json!({}), 409, "invalid_state")
        .await;
    shop.check_books().await;
}
