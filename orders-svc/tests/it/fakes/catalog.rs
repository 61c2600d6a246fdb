//! catalog-svc: quotes what the world holds. Any answers satisfy a product's questions.

use proto::catalog::v1::{
    QuoteLine, QuoteRequest, QuoteRequestLine, QuoteResponse,
    catalog_quote_service_server::CatalogQuoteService,
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
        let quote = |line: &QuoteRequestLine| -> QuoteLine {
            let known = state.products.get(&line.product_id).cloned();
            let mut quoted = known.unwrap_or_default();
            if line.answers.is_some() {
                quoted.answer_errors.clear();
            }
            quoted
        };
        let lines = request.get_ref().lines.iter().map(quote).collect();
        Ok(Response::new(QuoteResponse { lines }))
    }
}
