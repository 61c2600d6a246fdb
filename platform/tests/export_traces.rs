//! Export of spans by a process that logs errors only, including the last ones before its exit. A
//! test binary of its own, because the logger is process-wide.

use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
    trace_service_server::{TraceService, TraceServiceServer},
};
use platform::{
    config::{self, Telemetry},
    telemetry,
};
use tokio::sync::mpsc;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Request, Response, Status};

struct Collector(mpsc::UnboundedSender<ExportTraceServiceRequest>);

#[tonic::async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        self.0
            .send(request.into_inner())
            .map_err(|_| Status::unavailable("closed"))?;
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn spans_are_exported_and_flushed() {
    let (sender, mut received) = mpsc::unbounded_channel();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let server = tonic::transport::Server::builder()
        .add_service(TraceServiceServer::new(Collector(sender)))
        .serve_with_incoming(TcpListenerStream::new(listener));
    tokio::spawn(server);

    let endpoint = ["--otel-exporter-otlp-endpoint", &endpoint, "--log", "error"];
    let settings: Telemetry =
        config::from_args(&[&endpoint[..], &["--trace-sample-ratio", "1"]].concat()).unwrap();
    let guard = telemetry::init("test-svc", &settings).unwrap();
    let trace = tracing::info_span!("one")
        .in_scope(telemetry::current_trace_id)
        .unwrap();
    tracing::debug_span!("a detail").in_scope(|| {});
    tokio::task::spawn_blocking(move || drop(guard))
        .await
        .unwrap();

    let batch = tokio::time::timeout(Duration::from_mins(1), received.recv()).await;
    let exported = &batch.unwrap().unwrap().resource_spans[0];
    let service = &exported.resource.as_ref().unwrap().attributes;
    assert!(format!("{service:?}").contains("test-svc"));
    let scopes = exported.scope_spans.iter();
    let spans: Vec<_> = scopes.flat_map(|scope| &scope.spans).collect();
    assert_eq!(spans.len(), 1);
    assert_eq!(spans[0].name, "one");
    let trace = u128::from_str_radix(&trace, 16).unwrap();
    assert_eq!(spans[0].trace_id, trace.to_be_bytes());
}
