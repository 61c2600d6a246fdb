//! The connection to NATS: which server is used, and what is logged.

use std::sync::atomic::Ordering;

use platform::{
    config::Nats,
    messaging::jetstream::{connect, is_connected},
    testing::{Log, eventually},
};

use crate::{
    harness::{TIMEOUT, env},
    proxy::Proxy,
};

const LOST: &str = "nats: connection lost, reconnecting";

/// In one thread, so that the client library's tasks log here too.
#[tokio::test]
async fn the_end_of_a_process_is_no_lost_connection() {
    let log = Log::default();
    let _guard = tracing::subscriber::set_default(log.subscriber());
    let js = connect(&Nats::at(&env("NATS_URL")), "platform-tests").await;
    let js = js.unwrap();
    eventually("connected", TIMEOUT, async || is_connected(&js)).await;
    drop(js);
    eventually("closed", TIMEOUT, async || {
        log.contains("nats: connection closed")
    })
    .await;
    assert!(!log.contains(LOST));
}

#[tokio::test]
async fn a_lost_connection_is_logged() {
    let log = Log::default();
    let _guard = tracing::subscriber::set_default(log.subscriber());
    let (proxy, url) = Proxy::to_nats().await;
    proxy.connect();
    let js = connect(&Nats::at(&url), "platform-tests").await.unwrap();
    eventually("connected", TIMEOUT, async || is_connected(&js)).await;
    proxy.disconnect();
    eventually("logged", TIMEOUT, async || log.contains(LOST)).await;
}

#[tokio::test]
async fn another_server_of_the_list_is_used_while_one_is_away() {
    let (first, url) = Proxy::to_nats().await;
    let (second, other) = Proxy::to_nats().await;
    first.connect();
    let servers = Nats::at(&format!("{url},{other}"));
    let js = connect(&servers, "platform-tests").await.unwrap();
    eventually("connected", TIMEOUT, async || is_connected(&js)).await;
    second.connect();
    first.disconnect();
    let connections = || js.client().statistics().connects.load(Ordering::Relaxed);
    eventually("connected to the other", TIMEOUT, async || {
        connections() == 2 && is_connected(&js)
    })
    .await;
}
