//! `CatalogQuoteService`: called by orders-svc.

use platform::grpc::Call;
use proto::catalog::v1::{
    QuoteRequest, QuoteResponse, catalog_quote_service_server::CatalogQuoteService,
};
use tonic::{Request, Response, Status};

use super::Quotes;

#[derive(Debug, Clone)]
pub(crate) struct QuoteGrpc(pub(crate) Quotes);

#[tonic::async_trait]
impl CatalogQuoteService for QuoteGrpc {
    async fn quote(
        &self,
        request: Request<QuoteRequest>,
    ) -> Result<Response<QuoteResponse>, Status> {
        let Call { body, .. } = Call::of(request)?;
        let lines = self.0.quote(&body).await?;
        Ok(Response::new(QuoteResponse { lines }))
    }
}
