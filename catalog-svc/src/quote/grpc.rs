//! `CatalogQuoteService`: asked by orders-svc.

use platform::auth::Caller;
use proto::catalog::v1 as wire;
use tonic::{Request, Response, Status};

use super::{Quotes, convert};
use crate::media::Media;

/// Serves quotes.
#[derive(Debug, Clone)]
pub struct QuoteGrpc {
    /// The use case.
    pub quotes: Quotes,
    /// Where images are.
    pub media: Media,
}

#[tonic::async_trait]
impl wire::catalog_quote_service_server::CatalogQuoteService for QuoteGrpc {
    async fn quote(
        &self,
        request: Request<wire::QuoteRequest>,
    ) -> Result<Response<wire::QuoteResponse>, Status> {
        Caller::of(&request)?.require_admin()?;
        let asked = convert::asked(request.get_ref())?;
        let found = self.quotes.quote(&asked).await?;
        let asked = request.get_ref().lines.iter();
        let lines = asked
            .zip(found)
            .map(|(asked, found)| convert::line_to_proto(asked, found, &self.media));
        Ok(Response::new(wire::QuoteResponse {
            lines: lines.collect(),
        }))
    }
}
