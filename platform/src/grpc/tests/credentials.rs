//! Who is calling: tokens of callers, and the service token of the process.

use super::*;

#[tokio::test]
async fn the_handler_gets_the_caller_of_the_token() {
    let server = start().await;
    assert_eq!(
        call(&mut server.client(), "caller").await.unwrap(),
        "gateway"
    );
    assert_eq!(
        call(&mut server.client(), "anything").await,
        Err(Code::InvalidState)
    );

    // A token in the metadata is sent instead of the process's own.
    let mut other = Request::new(IssueAnonymousTokenRequest {});
    let header = format!("Bearer {}", token(&issuer(), "orders-svc"));
    other
        .metadata_mut()
        .insert("authorization", header.parse().unwrap());
    let refused = server.client().issue_anonymous_token(other).await;
    let refused = refused.unwrap_err();
    assert_eq!(refused.code(), tonic::Code::PermissionDenied);
}

#[tokio::test]
async fn only_open_methods_work_without_a_valid_token() {
    let server = start().await;
    assert_eq!(
        call(&mut server.anonymous(), "caller").await,
        Err(Code::Unauthenticated)
    );
    assert!(server.anonymous().get_jwks(GetJwksRequest {}).await.is_ok());

    for bad in ["Bearer nonsense", "nonsense", "Basic YTpi", "bearer", ""] {
        let mut request = Request::new(key("caller"));
        request
            .metadata_mut()
            .insert("authorization", bad.parse().unwrap());
        let status = server
            .anonymous()
            .exchange_api_key(request)
            .await
            .unwrap_err();
        assert_eq!(status.code(), tonic::Code::Unauthenticated, "{bad}");
    }
}

#[tokio::test]
async fn a_refused_service_token_is_a_fault_and_is_replaced() {
    let server = start().await;
    let seeds = std::sync::Mutex::new(vec![1, 9]);
    let source = ServiceToken::new(move || {
        let seed = seeds.lock().unwrap().pop().unwrap();
        async move { Ok(token(&TokenIssuer::new(&[seed; 32]), "gateway")) }.boxed()
    });
    let channel = client::connect("identity", &server.url, Some(source)).unwrap();
    let mut client = channel.service();
    assert_eq!(call(&mut client, "caller").await, Err(Code::Unavailable));
    assert_eq!(call(&mut client, "caller").await.unwrap(), "gateway");
}

#[tokio::test]
async fn keys_and_service_tokens_are_fetched_from_identity() {
    let identity = start().await;
    let common: Common = config::from_args(&["--identity-grpc-url", &identity.url]).unwrap();
    let secret: ServiceSecret = config::from_args(&["--service-secret", SECRET]).unwrap();
    let auth = Auth::remote("gateway", &common, &secret).unwrap();
    let server = serve(auth.verifier, Readiness::default()).await;
    let channel = client::connect("test", &server.url, Some(auth.token)).unwrap();
    let mut client = channel.service();
    assert_eq!(call(&mut client, "caller").await.unwrap(), "gateway");

    let stranger = token(&TokenIssuer::new(&[2; 32]), "gateway");
    let mut request = Request::new(key("caller"));
    request.metadata_mut().insert(
        "authorization",
        format!("Bearer {stranger}").parse().unwrap(),
    );
    let status = server
        .anonymous()
        .exchange_api_key(request)
        .await
        .unwrap_err();
    assert_eq!(status.code(), tonic::Code::Unauthenticated);
}

#[tokio::test]
async fn a_handlers_refusal_of_credentials_is_no_fault_of_the_service_token() {
    let server = start().await;
    let refused = call(&mut server.client(), "refuse").await;
    assert_eq!(refused, Err(Code::Unauthenticated), "by the handler");

    let stranger = ServiceToken::new(|| {
        let token = token(&TokenIssuer::new(&[2; 32]), "gateway");
        Box::pin(async move { Ok(token) })
    });
    let channel = client::connect("test", &server.url, Some(stranger)).unwrap();
    let refused = call(&mut channel.service(), "caller").await;
    assert_eq!(refused, Err(Code::Unavailable), "by the layer");
}
