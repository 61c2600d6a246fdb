//! catalog-svc: quotes the known products. Any answers satisfy a product's questions.

use proto::catalog::v1::{
    QuoteLine, QuoteRequest, QuoteRequestLine, QuoteResponse,
    catalog_quote_service_server::CatalogQuoteService,
};
use tonic::{Request, Response, Status};

use super::FakePeers;

#[tonic::async_trait]
impl CatalogQuoteService for FakePeers {
    async fn quote(
        &self,
        request: Request<QuoteRequest>,
    ) -> Result<Response<QuoteResponse>, Status> {
        let state = self.state();
        let quote = |line: &QuoteRequestLine| -> QuoteLine {
            let product = state.products.get(&line.product_id);
            let mut quote = product.cloned().unwrap_or_default();
            if line.answers.is_some() {
                quote.answer_errors.clear();
            }
            quote
        };
        let lines = request.get_ref().lines.iter().map(quote).collect();
        Ok(Response::new(QuoteResponse { lines }))
    }
}
