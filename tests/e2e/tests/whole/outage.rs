//! An outage of NATS: orders are created and paid without it, and bonuses follow when it is back.

use e2e::{TestApp, usd};
use stack::StackOptions;

#[tokio::test(flavor = "multi_thread")]
async fn orders_are_paid_during_a_nats_outage_and_bonuses_follow() {
    let app = TestApp::start(StackOptions::for_test("outage").expect("options")).await;
    let buyer = app.create_user("ada").await;
    let wallet = &buyer["primaryWalletId"];
    app.deposit(wallet, "100.00").await;
    let tea = app.create_product("Tea", "8", "0.8").await;

    app.stack.stop_nats().expect("NATS stops");
    for _ in 0..5 {
        app.order(&buyer, &tea).await;
    }
    assert_eq!(app.balance(wallet).await, usd("52.00"));
    app.stack.start_nats().expect("NATS starts again");
    app.wait_for_balance(wallet, &usd("56.00")).await;
    app.assert_settled().await;
}
