//! Servers that hang, are down, are not ready, or stop.

use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

use super::*;

#[tokio::test(start_paused = true)]
async fn a_dependency_that_hangs_is_unavailable_in_time() {
    // Connections are accepted by the kernel, and then nobody ever speaks.
    let hung = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", hung.local_addr().unwrap());
    let mut client = client::connect("identity", &url, None).unwrap().service();
    let asked = Instant::now();
    assert_eq!(ask(&mut client, "caller").await, Err(Code::Unavailable));
    assert!(
        asked.elapsed() <= Duration::from_secs(3),
        "{:?}",
        asked.elapsed()
    );
}

#[tokio::test]
async fn a_dependency_that_is_down_is_unavailable_until_it_is_back() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let fetch = || async { Ok(token(&issuer(), "orders-svc")) }.boxed();
    let source = ServiceToken::new(fetch);
    let channel = client::connect("identity", &format!("http://{address}"), Some(source)).unwrap();
    let mut client = channel.service();
    assert_eq!(ask(&mut client, "caller").await, Err(Code::Unavailable));

    let verifier = TokenVerifier::fixed(&issuer().jwks_json()).unwrap();
    let server = Server::bind(address, verifier, Readiness::default())
        .await
        .unwrap();
    let identity = Identity {
        issuer: issuer(),
        probe: Probe::default(),
    };
    let server = server.add_service(AuthServiceServer::new(identity));
    tokio::spawn(server.serve(CancellationToken::new()));
    assert_eq!(ask(&mut client, "caller").await.unwrap(), "orders-svc");
}

#[tokio::test]
async fn health_follows_readiness_and_stopping_drains() {
    let readiness = Readiness::default();
    let up = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let flag = Arc::clone(&up);
    readiness.require("flag", move || {
        let up = flag.load(std::sync::atomic::Ordering::SeqCst);
        async move { up.then_some(()).ok_or_else(|| anyhow::anyhow!("down")) }
    });
    let verifier = TokenVerifier::fixed(&issuer().jwks_json()).unwrap();
    let server = serve(verifier, readiness).await;
    let health = client::connect("identity", &server.url, None).unwrap();
    let service = "guerdon.identity.v1.AuthService".to_owned();
    let watch = HealthClient::new(health.clone())
        .watch(HealthCheckRequest { service })
        .await;
    let mut watch = watch.unwrap().into_inner();
    assert_eq!(
        watch.message().await.unwrap().unwrap().status,
        2,
        "not serving yet"
    );
    assert!(health.ready().await.is_err());
    up.store(true, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(watch.message().await.unwrap().unwrap().status, 1, "serving");
    assert!(health.ready().await.is_ok());

    let mut client = server.client();
    let in_flight = tokio::spawn(async move { ask(&mut client, "wait").await });
    server.probe.entered.notified().await;
    server.stop.cancel();
    // The stream ends, the call in flight still gets its answer, then the server is gone.
    while let Ok(Some(_)) = watch.message().await {}
    server.probe.release.notify_one();
    assert_eq!(in_flight.await.unwrap().unwrap(), "waited");
    server.ended.await.unwrap().unwrap();
}
