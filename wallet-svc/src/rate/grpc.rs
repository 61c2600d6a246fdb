//! `RateService`: everybody reads, admins write.

use platform::grpc::{Call, precondition::Versions, respond};
use proto::wallet::v1::{
    CreateRateRequest, CreateRateResponse, DeleteRateRequest, DeleteRateResponse,
    FindConversionRequest, FindConversionResponse, GetRateRequest, GetRateResponse,
    ListRatesRequest, ListRatesResponse, UpdateRateRequest, UpdateRateResponse,
    rate_service_server::RateService,
};
use tonic::{Request, Response, Status};

use super::{convert, service::Rates};

/// Adapts [`Rates`] to gRPC.
#[derive(Debug, Clone)]
pub(crate) struct RateGrpc(pub(crate) Rates);

#[tonic::async_trait]
impl RateService for RateGrpc {
    async fn create_rate(
        &self,
        request: Request<CreateRateRequest>,
    ) -> Result<Response<CreateRateResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let base = self.0.find_asset(&body.base_asset_code).await?;
        let quote = self.0.find_asset(&body.quote_asset_code).await?;
        let new = convert::new_rate(body, base, quote)?;
        let reply = self.0.create(new, key.as_ref()).await?;
        Ok(respond(reply, |rate| CreateRateResponse {
            rate: Some(rate),
        }))
    }

    async fn get_rate(
        &self,
        request: Request<GetRateRequest>,
    ) -> Result<Response<GetRateResponse>, Status> {
        let body = request.into_inner();
        let (base, quote) = (&body.base_asset_code, &body.quote_asset_code);
        let rate = self.0.get(base, quote).await?;
        let rate = Some(convert::rate(&rate));
        Ok(Response::new(GetRateResponse { rate }))
    }

    async fn list_rates(
        &self,
        request: Request<ListRatesRequest>,
    ) -> Result<Response<ListRatesResponse>, Status> {
        let list = request.into_inner().list.unwrap_or_default();
        let page = self.0.list(&list).await?;
        let (rates, page) = page.encode(|rate| convert::rate(&rate));
        let page = Some(page);
        Ok(Response::new(ListRatesResponse { rates, page }))
    }

    async fn update_rate(
        &self,
        request: Request<UpdateRateRequest>,
    ) -> Result<Response<UpdateRateResponse>, Status> {
        let if_version = Versions::of(&request)?;
        let Call { body, .. } = Call::of(request)?;
        let base = body.base_asset_code.clone();
        let quote = body.quote_asset_code.clone();
        let patch = convert::rate_patch(body)?;
        let rate = self
            .0
            .update(&base, &quote, patch, if_version.as_ref())
            .await?;
        let rate = Some(convert::rate(&rate));
        Ok(Response::new(UpdateRateResponse { rate }))
    }

    async fn delete_rate(
        &self,
        request: Request<DeleteRateRequest>,
    ) -> Result<Response<DeleteRateResponse>, Status> {
        let if_version = Versions::of(&request)?;
        let Call { body, .. } = Call::of(request)?;
        let (base, quote) = (&body.base_asset_code, &body.quote_asset_code);
        self.0.delete(base, quote, if_version.as_ref()).await?;
        Ok(Response::new(DeleteRateResponse {}))
    }

    async fn find_conversion(
        &self,
        request: Request<FindConversionRequest>,
    ) -> Result<Response<FindConversionResponse>, Status> {
        let body = request.into_inner();
        let (from, to) = (&body.from_asset_code, &body.to_asset_code);
        let conversion = self.0.find_conversion(from, to).await?;
        Ok(Response::new(convert::conversion(conversion)))
    }
}
