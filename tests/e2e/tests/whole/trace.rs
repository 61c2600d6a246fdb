//! Tracing: one trace from the client's request to the consumer of its event.

use std::sync::{Arc, Mutex};

use e2e::{TestApp, usd};
use opentelemetry_proto::tonic::{
    collector::trace::v1::{
        ExportTraceServiceRequest, ExportTraceServiceResponse,
        trace_service_server::{TraceService, TraceServiceServer},
    },
    common::v1::any_value::Value,
};
use serde_json::json;
use stack::StackOptions;
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Request, Response, Status, transport::Server};

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

/// An OTLP receiver that stores spans.
#[derive(Debug, Clone, Default)]
struct Receiver(Arc<Mutex<Vec<SpanSummary>>>);

#[tonic::async_trait]
impl TraceService for Receiver {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        for resource in request.into_inner().resource_spans {
            let attributes = resource.resource.unwrap_or_default().attributes;
            let service = attributes
                .into_iter()
                .find(|pair| pair.key == "service.name");
            let service = match service.and_then(|pair| pair.value?.value) {
                Some(Value::StringValue(name)) => name,
                _ => String::new(),
            };
            let spans = resource
                .scope_spans
                .into_iter()
                .flat_map(|scope| scope.spans);
            let received = spans.map(|span| SpanSummary {
                service: service.clone(),
                name: span.name,
                trace: span.trace_id,
                links: span.links.into_iter().map(|link| link.trace_id).collect(),
            });
            self.0.lock().expect("no panic").extend(received);
        }
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

impl Receiver {
    /// Serves on a free port, and returns the address.
    async fn serve(&self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("bound");
        let server = Server::builder()
            .add_service(TraceServiceServer::new(self.clone()))
            .serve_with_incoming(TcpListenerStream::new(listener));
        tokio::spawn(server);
        format!("http://{address}")
    }
}

impl Receiver {
    /// Returns the spans of the trace that links to the client's.
    fn linked(&self) -> Vec<SpanSummary> {
        let spans = self.0.lock().expect("no panic");
        let root = spans.iter().find(|span| span.links.contains(&trace_id()));
        let ours = spans
            .iter()
            .filter(|span| root.is_some_and(|root| root.trace == span.trace));
        ours.cloned().collect()
    }
}

fn trace_id() -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&TRACE_ID[at..at + 2], 16).expect("hexadecimal");
    (0..TRACE_ID.len()).step_by(2).map(byte).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_trace_spans_the_request_and_the_consumer_of_its_event() {
    let receiver = Receiver::default();
    let mut options = StackOptions::for_test("trace").expect("options");
    options.otlp = Some(receiver.serve().await);
    let app = TestApp::start(options).await;
    let buyer = app.create_user("ada").await;
    let wallet = &buyer["primaryWalletId"];
    app.deposit(wallet, "100.00").await;
    let tea = app.create_product("Tea", "8", "0.8").await;

    let app = app.with_header("traceparent", &format!("00-{TRACE_ID}-00f067aa0ba902b7-01"));
    let body = json!({
        "userId": buyer["id"], "lines": [{ "productId": tea["id"] }], "walletId": wallet,
    });
    app.create("/orders", body).await;
    app.wait_for_balance(wallet, &usd("91.20")).await;

    app.eventually(|| async {
        let spans = receiver.linked();
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
    let spans = receiver.linked();
    assert!(spans.iter().all(|span| span.trace != of_client));
}
