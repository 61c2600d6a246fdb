//! NATS is a courier: without it orders are placed and paid, and what it carries comes later.

use e2e::{Shop, usd};
use serde_json::json;
use stack::StackOptions;

#[tokio::test(flavor = "multi_thread")]
async fn orders_are_paid_while_nats_is_away() {
    let shop = Shop::open(StackOptions::for_test("outage").expect("options")).await;
    let buyer = shop.user("ada").await;
    let wallet = &buyer["primaryWalletId"];
    shop.fund(wallet, "100.00").await;
    let tea = shop.product("Tea", "8", "0.8").await;

    shop.stack.stop_nats();
    for _ in 0..5 {
        let body = json!({
            "userId": buyer["id"], "lines": [{ "productId": tea["id"] }], "walletId": wallet,
        });
        let order = shop.make("/orders", body).await;
        assert_eq!(order["paymentStatus"], "fully_paid");
    }
    assert_eq!(shop.balance(wallet).await, usd("52.00"));
    shop.stack.start_nats().expect("NATS starts again");
    shop.until_balance(wallet, &usd("56.00")).await;
    shop.check_books().await;
}
