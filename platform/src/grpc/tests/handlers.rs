//! Handlers that outlive their callers, deadlines, panics, large responses and traces.

use super::*;

#[tokio::test]
async fn a_disconnected_client_does_not_cancel_the_handler() {
    let server = start().await;
    let mut client = server.client();
    let pending = tokio::spawn(async move { call(&mut client, "wait").await });
    server.probe.entered.notified().await;
    pending.abort();
    assert!(pending.await.unwrap_err().is_cancelled());
    server.probe.release.notify_one();
    server.probe.finished.notified().await;
}

#[tokio::test]
async fn a_passed_deadline_does_not_cancel_the_handler() {
    let server = start().await;
    let mut client = server.client();
    call(&mut client, "caller")
        .await
        .expect("connected before the deadline is set");
    let mut request = Request::new(key("wait"));
    request.set_timeout(Duration::from_secs(1));
    let status = client.exchange_api_key(request).await.unwrap_err();
    assert_eq!(
        Failure::from_status(&status).code,
        Code::Timeout,
        "from the server"
    );
    server.probe.release.notify_one();
    server.probe.finished.notified().await;
}

#[tokio::test]
async fn deadlines_are_propagated() {
    let server = start().await;
    let default: u128 = call(&mut server.client(), "time")
        .await
        .unwrap()
        .parse()
        .unwrap();
    assert!((2000..2900).contains(&default), "{default}");

    let soon = Some(Instant::now() + Duration::from_secs(1));
    let mut client = server.client();
    let less = deadline::within(soon, call(&mut client, "time"))
        .await
        .unwrap();
    assert!(less.parse::<u128>().unwrap() < 1000);
    let late = deadline::within(Some(Instant::now()), call(&mut client, "time")).await;
    assert_eq!(late, Err(Code::Timeout));
}

#[tokio::test]
async fn a_panic_is_an_internal_error_and_the_server_goes_on() {
    let server = start().await;
    let mut client = server.client();
    assert_eq!(call(&mut client, "panic").await, Err(Code::Internal));
    assert_eq!(call(&mut client, "caller").await.unwrap(), "gateway");
}

#[tokio::test]
async fn responses_may_be_larger_than_the_default_limit() {
    let server = start().await;
    let large = call(&mut server.client(), "large").await.unwrap();
    assert_eq!(large.len(), DEFAULT_LIMIT + 1);
}

#[tokio::test]
async fn a_trace_is_propagated() {
    let server = start().await;
    let span = tracing::info_span!("test");
    let here = span.in_scope(telemetry::current_trace_id).unwrap();
    let mut client = server.client();
    let there = tracing::Instrument::instrument(call(&mut client, "trace"), span)
        .await
        .unwrap();
    assert_eq!(there, here);
}
