//! Servers that hang, are down, are not ready, or stop.

use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

use super::*;

#[tokio::test(start_paused = true)]
async fn a_hanging_dependency_is_unavailable_within_3_seconds() {
    // The kernel accepts connections, and nobody responds.
    let hanging = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", hanging.local_addr().unwrap());
    let mut client = client::connect("identity", &url, None).unwrap().service();
    let called = Instant::now();
    assert_eq!(call(&mut client, "caller").await, Err(Code::Unavailable));
    assert!(
        called.elapsed() <= Duration::from_secs(3),
        "{:?}",
        called.elapsed()
    );
}

#[tokio::test]
async fn a_client_reconnects_when_a_dependency_is_back() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let fetch = || async { Ok(token(&issuer(), "gateway")) }.boxed();
    let source = ServiceToken::new(fetch);
    let channel = client::connect("identity", &format!("http://{address}"), Some(source)).unwrap();
    let mut client = channel.service();
    assert_eq!(call(&mut client, "caller").await, Err(Code::Unavailable));

    let verifier = TokenVerifier::fixed(&issuer().jwks_json()).unwrap();
    let server = Server::bind(
        address,
        &config::Grpc::default(),
        &Tls::default(),
        verifier,
        Readiness::default(),
    )
    .await
    .unwrap();
    let identity = Identity {
        issuer: issuer(),
        probe: Probe::default(),
    };
    let server = server.add_service(AuthServiceServer::new(identity));
    tokio::spawn(server.serve(CancellationToken::new()));
    assert_eq!(call(&mut client, "caller").await.unwrap(), "gateway");
}

#[tokio::test]
async fn health_follows_readiness_and_a_stopping_server_drains() {
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
    let in_flight = tokio::spawn(async move { call(&mut client, "wait").await });
    server.probe.entered.notified().await;
    server.stop.cancel();
    // The stream ends, the call in flight still gets its response, then the server ends.
    while let Ok(Some(_)) = watch.message().await {}
    server.probe.release.notify_one();
    assert_eq!(in_flight.await.unwrap().unwrap(), "waited");
    server.ended.await.unwrap().unwrap();
}
