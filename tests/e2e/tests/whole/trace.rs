//! Tracing: one trace from the client's request to the consumer of its event.

use e2e::{TestApp, TraceCollector, usd};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use stack::StackOptions;

const PROCESSES: [&str; 5] = [
    "gateway",
    "orders-svc",
    "catalog-svc",
    "wallet-svc",
    "identity-svc",
];
const TRACE_ID: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// The relevant fields of a span.
#[derive(Debug, Clone)]
struct SpanSummary {
    service: String,
    name: String,
    trace: Vec<u8>,
    /// The traces that it links to.
    links: Vec<Vec<u8>>,
}

/// Returns the spans that were exported.
fn spans(collector: &TraceCollector) -> Vec<SpanSummary> {
    let resources = collector.exported();
    let resources = resources
        .into_iter()
        .flat_map(|export| export.resource_spans);
    let summaries = resources.flat_map(|resource| {
        let attributes = resource.resource.unwrap_or_default().attributes;
        let service = attributes
            .into_iter()
            .find(|pair| pair.key == "service.name");
        let service = match service.and_then(|pair| pair.value?.value) {
            Some(Value::StringValue(name)) => name,
            _ => String::new(),
        };
        let scopes = resource.scope_spans.into_iter();
        scopes
            .flat_map(|scope| scope.spans)
            .map(move |span| SpanSummary {
                service: service.clone(),
                name: span.name,
                trace: span.trace_id,
                links: span.links.into_iter().map(|link| link.trace_id).collect(),
            })
    });
    summaries.collect()
}

/// Returns the spans of the trace that links to the client's.
fn linked(collector: &TraceCollector) -> Vec<SpanSummary> {
    let mut spans = spans(collector);
    let root = spans.iter().find(|span| span.links.contains(&trace_id()));
    let trace = root.map(|root| root.trace.clone());
    spans.retain(|span| Some(&span.trace) == trace.as_ref());
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
            .any(|span| span.service == "wallet-svc" && span.name.contains("OrderPaid"));
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
    assert!(spans.iter().all(|span| span.trace != of_client));
}
