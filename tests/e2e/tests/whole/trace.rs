//! Tracing: one trace from the client's request to the consumer of its event.

use e2e::{ExportedSpan, TestApp, TraceCollector, usd};
use stack::StackOptions;

const PROCESSES: [&str; 5] = [
    "gateway",
    "orders-svc",
    "catalog-svc",
    "wallet-svc",
    "identity-svc",
];
const TRACE_ID: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// Returns the spans of the trace that links to the client's.
fn linked(collector: &TraceCollector) -> Vec<ExportedSpan> {
    let mut spans = collector.spans();
    let of_client = trace_id();
    let links = |exported: &&ExportedSpan| {
        let mut links = exported.span.links.iter();
        links.any(|link| link.trace_id == of_client)
    };
    let root = spans.iter().find(links);
    let trace = root.map(|root| root.span.trace_id.clone());
    spans.retain(|exported| Some(&exported.span.trace_id) == trace.as_ref());
    spans
}

fn trace_id() -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&TRACE_ID[at..at + 2], 16).expect("hexadecimal");
    (0..TRACE_ID.len()).step_by(2).map(byte).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_trace_spans_the_request_and_the_consumer_of_its_event() {
    let collector = TraceCollector::default();
    let mut options = StackOptions::for_test("trace").expect("options");
    options.otlp = Some(collector.serve().await);
    let app = TestApp::start(options).await;
    let buyer = app.create_user("ada").await;
    let wallet = &buyer["primaryWalletId"];
    app.deposit(wallet, "100.00").await;
    let tea = app.create_product("Tea", "8", "0.8").await;

    let app = app.with_header("traceparent", &format!("00-{TRACE_ID}-00f067aa0ba902b7-01"));
    app.order(&buyer, &tea).await;
    app.wait_for_balance(wallet, &usd("91.20")).await;

    app.eventually(|| async {
        let spans = linked(&collector);
        let missing: Vec<_> = PROCESSES
            .iter()
            .filter(|service| !spans.iter().any(|span| span.service == **service))
            .collect();
        let consumed = spans
            .iter()
            .any(|span| span.service == "wallet-svc" && span.span.name.contains("OrderPaid"));
        match (missing.is_empty(), consumed) {
            (true, true) => Ok(()),
            _ => Err(format!(
                "missing {missing:?}, consumed: {consumed}, received: {spans:?}"
            )),
        }
    })
    .await;
    let of_client = trace_id();
    let spans = linked(&collector);
    assert!(spans.iter().all(|span| span.span.trace_id != of_client));
}
