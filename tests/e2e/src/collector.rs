//! A collector of traces.

use std::sync::{Arc, Mutex, PoisonError};

use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
    trace_service_server::{TraceService, TraceServiceServer},
};
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Request, Response, Status, transport::Server};

/// Keeps the spans that processes export by OTLP. Cloning is cheap and shares them.
#[derive(Debug, Clone, Default)]
pub struct TraceCollector(Arc<Mutex<Vec<ExportTraceServiceRequest>>>);

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
