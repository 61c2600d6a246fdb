//! wallet-svc: assets and exchange rates.

use platform::error::{Code, Failure};
use proto::wallet::v1::{
    Asset, CreateAssetRequest, CreateAssetResponse, CreateRateRequest, CreateRateResponse,
    DeleteRateRequest, DeleteRateResponse, FindConversionRequest, FindConversionResponse,
    GetAssetRequest, GetAssetResponse, GetRateRequest, GetRateResponse, ListAssetsRequest,
    ListAssetsResponse, ListRatesRequest, ListRatesResponse, UpdateAssetRequest,
    UpdateAssetResponse, UpdateRateRequest, UpdateRateResponse, asset_service_server::AssetService,
    rate_service_server::RateService,
};
use tonic::{Request, Response, Status};

use super::{FakePeers, identity::uncalled};

#[tonic::async_trait]
impl RateService for FakePeers {
    async fn find_conversion(
        &self,
        request: Request<FindConversionRequest>,
    ) -> Result<Response<FindConversionResponse>, Status> {
        let FindConversionRequest {
            from_asset_code: from,
            to_asset_code: to,
        } = request.into_inner();
        let state = self.state();
        let own = state.rates.get(&(from.clone(), to.clone()));
        let found = own.map(|rate| (rate, false));
        let inverse = state.rates.get(&(to, from)).map(|rate| (rate, true));
        let (rate, inverse) = found
            .or(inverse)
            .ok_or_else(|| Failure::new(Code::NoRate, "no rate"))?;
        Ok(Response::new(FindConversionResponse {
            rate: rate.clone(),
            inverse,
        }))
    }

    async fn create_rate(
        &self,
        _: Request<CreateRateRequest>,
    ) -> Result<Response<CreateRateResponse>, Status> {
        uncalled()
    }

    async fn get_rate(
        &self,
        _: Request<GetRateRequest>,
    ) -> Result<Response<GetRateResponse>, Status> {
        uncalled()
    }

    async fn list_rates(
        &self,
        _: Request<ListRatesRequest>,
    ) -> Result<Response<ListRatesResponse>, Status> {
        uncalled()
    }

    async fn update_rate(
        &self,
        _: Request<UpdateRateRequest>,
    ) -> Result<Response<UpdateRateResponse>, Status> {
        uncalled()
    }

    async fn delete_rate(
        &self,
        _: Request<DeleteRateRequest>,
    ) -> Result<Response<DeleteRateResponse>, Status> {
        uncalled()
    }
}

#[tonic::async_trait]
impl AssetService for FakePeers {
    async fn get_asset(
        &self,
        request: Request<GetAssetRequest>,
    ) -> Result<Response<GetAssetResponse>, Status> {
        let code = request.into_inner().code;
        let decimal_places = if code == "points" { 0 } else { 2 };
        let asset = Some(Asset {
            code,
            decimal_places,
            ..Asset::default()
        });
        Ok(Response::new(GetAssetResponse { asset }))
    }

    async fn list_assets(
        &self,
        _: Request<ListAssetsRequest>,
    ) -> Result<Response<ListAssetsResponse>, Status> {
        uncalled()
    }

    async fn create_asset(
        &self,
        _: Request<CreateAssetRequest>,
    ) -> Result<Response<CreateAssetResponse>, Status> {
        uncalled()
    }

    async fn update_asset(
        &self,
        _: Request<UpdateAssetRequest>,
    ) -> Result<Response<UpdateAssetResponse>, Status> {
        uncalled()
    }
}
