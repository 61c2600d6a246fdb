//! Processes that are told to stop: they are not ready, and serve until their clients have left them.

use std::process::Command;

use e2e::TestApp;
use reqwest::StatusCode;
use stack::StackOptions;

/// Far longer than the test.
const DELAY: &[(&str, &str)] = &[("DRAIN_DELAY", "60")];

/// Sends SIGTERM to a process, and waits until it says that it is not ready.
async fn terminate(app: &TestApp, name: &str) {
    let pid = app.stack.process_ids()[name].to_string();
    let kill = Command::new("sh")
        .args(["-c", "kill -TERM $0", &pid])
        .status();
    assert!(kill.expect("a shell").success());
    let port = app.stack.wiring().instance(name).expect("it").metrics_port;
    let probe = format!("http://127.0.0.1:{port}/readyz");
    app.eventually(|| async {
        let response = reqwest::get(&probe).await;
        let status = response.expect("the probes are served").status();
        let is_unready = status == StatusCode::SERVICE_UNAVAILABLE;
        is_unready.then_some(()).ok_or(format!("{name}: {status}"))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_that_stop_serve_until_their_clients_have_left() {
    let app = TestApp::start(StackOptions::for_test("drain").expect("options")).await;
    let (gateway, orders) = ("gateway", "orders-svc");
    app.restart_with(orders, DELAY);
    app.restart_with(gateway, DELAY);
    let buyer = app.create_user("ada").await;
    app.deposit(&buyer["primaryWalletId"], "100.00").await;
    let tea = app.create_product("Tea", "8", "0.8").await;

    let before = app.get("/products").await;
    assert_eq!(before.headers.get("connection"), None);
    terminate(&app, gateway).await;
    for _ in 0..3 {
        let response = app.get("/products").await;
        assert_eq!(response.status, StatusCode::OK);
        assert_eq!(response.headers["connection"], "close");
    }
    terminate(&app, orders).await;
    app.order(&buyer, &tea).await;

    // They would go on for the rest of the minute.
    for name in [orders, gateway] {
        app.stack.kill(name).expect("it runs still");
        app.stack.start_again(name, &[]).expect("it starts");
    }
    app.assert_settled().await;
}
