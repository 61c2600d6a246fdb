//! What is logged about the connection to NATS.

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
