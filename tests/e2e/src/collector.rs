//! A collector of traces.

use std::sync::{Arc, Mutex, PoisonError};

use opentelemetry_proto::tonic::{
    collector::trace::v1::{
        ExportTraceServiceRequest, ExportTraceServiceResponse,
        trace_service_server::{TraceService, TraceServiceServer},
    },
    common::v1::any_value::Value,
    resource::v1::Resource,
    trace::v1::Span,
};
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Request, Response, Status, transport::Server};

/// Keeps the spans that processes export by OTLP. Cloning is cheap and shares them.
#[derive(Debug, Clone, Default)]
pub struct TraceCollector(Arc<Mutex<Vec<ExportTraceServiceRequest>>>);

/// A span with the process that it is of.
#[derive(Debug, Clone)]
pub struct ExportedSpan {
    /// `service.name`
    pub service: String,
    pub span: Span,
}

impl TraceCollector {
    /// Serves on a free port, and returns the address.
    ///
    /// # Panics
    /// Without a free port.
    pub async fn serve(&self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("bound");
        let server = Server::builder()
            .add_service(TraceServiceServer::new(self.clone()))
            .serve_with_incoming(TcpListenerStream::new(listener));
        tokio::spawn(server);
        format!("http://{address}")
    }

    /// Returns what was exported until now.
    pub fn exported(&self) -> Vec<ExportTraceServiceRequest> {
        let exported = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        exported.clone()
    }

    /// Returns the spans that were exported until now.
    pub fn spans(&self) -> Vec<ExportedSpan> {
        let exported = self.exported().into_iter();
        let resources = exported.flat_map(|export| export.resource_spans);
        let spans = resources.flat_map(|resource| {
            let service = service_name(resource.resource.unwrap_or_default());
            let scopes = resource.scope_spans.into_iter();
            scopes
                .flat_map(|scope| scope.spans)
                .map(move |span| ExportedSpan {
                    service: service.clone(),
                    span,
                })
        });
        spans.collect()
    }
}

/// Returns the name of a process, or nothing if it has none.
fn service_name(resource: Resource) -> String {
    let mut attributes = resource.attributes.into_iter();
    let name = attributes.find(|pair| pair.key == "service.name");
    match name.and_then(|pair| pair.value?.value) {
        Some(Value::StringValue(name)) => name,
        _ => String::new(),
    }
}

#[tonic::async_trait]
impl TraceService for TraceCollector {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let mut exported = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        exported.push(request.into_inner());
        drop(exported);
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}
