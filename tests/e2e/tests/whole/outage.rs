//! An outage of NATS: orders are created and paid without it, and bonuses follow when it is back; of a node
//! of a cluster, while it is down.

use e2e::{TestApp, usd};
use platform::{config::Nats, messaging::jetstream};
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

#[tokio::test(flavor = "multi_thread")]
async fn bonuses_follow_while_the_node_of_nats_that_led_their_events_is_down() {
    let mut options = StackOptions::for_test_with_nats_nodes("nodes", 3).expect("options");
    let replicas = ("NATS_STREAM_REPLICAS".to_owned(), "3".to_owned());
    options.settings.push(replicas);
    let app = TestApp::start(options).await;
    let buyer = app.create_user("ada").await;
    let wallet = &buyer["primaryWalletId"];
    app.deposit(wallet, "100.00").await;
    let tea = app.create_product("Tea", "8", "0.8").await;
    app.order(&buyer, &tea).await;
    app.wait_for_balance(wallet, &usd("91.20")).await;

    let leader = leader_of_orders(&app).await;
    app.stack.kill_nats(&leader).expect("it runs");
    app.order(&buyer, &tea).await;
    app.wait_for_balance(wallet, &usd("82.40")).await;
    app.assert_settled().await;
}

/// Returns the name of the node that leads the stream of orders, which has messages.
async fn leader_of_orders(app: &TestApp) -> String {
    let nats = Nats::at(&app.stack.wiring().operator_nats_url());
    let operator = jetstream::connect(&nats, "e2e").await.expect("the URLs");
    let stream = operator.get_stream("GUERDON_ORDERS").await;
    let stream = stream.expect("the stream");
    let cluster = stream.cached_info().cluster.as_ref();
    let cluster = cluster.expect("it is stored by a cluster");
    assert_eq!(cluster.replicas.len(), 2, "beside the leader");
    cluster.leader.clone().expect("a leader")
}
