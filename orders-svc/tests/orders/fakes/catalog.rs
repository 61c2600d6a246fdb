//! catalog-svc: quotes what the world holds.

use proto::catalog::v1::{
    QuoteLine, QuoteRequest, QuoteResponse, catalog_quote_service_server::CatalogQuoteService,
};
use tonic::{Request, Response, Status};

use super::World;

#[tonic::async_trait]
impl CatalogQuoteService for World {
    async fn quote(
        &self,
        request: Request<QuoteRequest>,
    ) -> Result<Response<QuoteResponse>, Status> {
        let state = self.state();
        let quote =
            |id: &String| -> QuoteLine { state.products.get(id).cloned().unwrap_or_default() };
        let lines = request.get_ref().lines.iter();
        let lines = lines.map(|line| quote(&line.product_id)).collect();
        Ok(Response::new(QuoteResponse { lines }))
    }
}
