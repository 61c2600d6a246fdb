//! `RateService`: everybody reads, admins write.

use platform::{auth::Caller, idempotency::Key};
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
pub struct RateGrpc(
    /// The use cases.
    pub Rates,
);

#[tonic::async_trait]
impl RateService for RateGrpc {
    async fn create_rate(
        &self,
        request: Request<CreateRateRequest>,
    ) -> Result<Response<CreateRateResponse>, Status> {
        Caller::of(&request)?.require_admin()?;
        let key = Key::from_request(&request)?;
        let request = request.into_inner();
        let base = self.0.find_asset(&request.base_asset_code).await?;
        let quote = self.0.find_asset(&request.quote_asset_code).await?;
        let new = convert::new_rate(request, base, quote)?;
        Ok(self.0.create(new, key.as_ref()).await?.into_response())
    }

    async fn get_rate(
        &self,
        request: Request<GetRateRequest>,
    ) -> Result<Response<GetRateResponse>, Status> {
        let GetRateRequest {
            base_asset_code: base,
            quote_asset_code: quote,
        } = request.get_ref();
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
        Ok(Response::new(ListRatesResponse {
            page: Some(page.info()),
            rates: page.rows.iter().map(convert::rate).collect(),
        }))
    }

    async fn update_rate(
        &self,
        request: Request<UpdateRateRequest>,
    ) -> Result<Response<UpdateRateResponse>, Status> {
        Caller::of(&request)?.require_admin()?;
        let request = request.into_inner();
        let base = request.base_asset_code.clone();
        let quote = request.quote_asset_code.clone();
        let patch = convert::rate_patch(request)?;
        let rate = self.0.update(&base, &quote, patch).await?;
        let rate = Some(convert::rate(&rate));
        Ok(Response::new(UpdateRateResponse { rate }))
    }

    async fn delete_rate(
        &self,
        request: Request<DeleteRateRequest>,
    ) -> Result<Response<DeleteRateResponse>, Status> {
        Caller::of(&request)?.require_admin()?;
        let DeleteRateRequest {
            base_asset_code: base,
            quote_asset_code: quote,
        } = request.get_ref();
        self.0.delete(base, quote).await?;
        Ok(Response::new(DeleteRateResponse {}))
    }

    async fn find_conversion(
        &self,
        request: Request<FindConversionRequest>,
    ) -> Result<Response<FindConversionResponse>, Status> {
        let FindConversionRequest {
            from_asset_code: from,
            to_asset_code: to,
        } = request.get_ref();
        let conversion = self.0.find_conversion(from, to).await?;
        Ok(Response::new(convert::conversion(conversion)))
    }
}
