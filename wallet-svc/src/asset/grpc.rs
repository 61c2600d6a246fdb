//! `AssetService`: everybody reads, admins write.

use platform::grpc::{Call, precondition::Versions, respond};
use proto::wallet::v1::{
    CreateAssetRequest, CreateAssetResponse, GetAssetRequest, GetAssetResponse, ListAssetsRequest,
    ListAssetsResponse, UpdateAssetRequest, UpdateAssetResponse,
    asset_service_server::AssetService,
};
use tonic::{Request, Response, Status};

use super::{convert, service::Assets};

/// Adapts [`Assets`] to gRPC.
#[derive(Debug, Clone)]
pub(crate) struct AssetGrpc(pub(crate) Assets);

#[tonic::async_trait]
impl AssetService for AssetGrpc {
    async fn create_asset(
        &self,
        request: Request<CreateAssetRequest>,
    ) -> Result<Response<CreateAssetResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let new = convert::new_asset(body)?;
        let reply = self.0.create(new, key.as_ref()).await?;
        Ok(respond(reply, |asset| CreateAssetResponse {
            asset: Some(asset),
        }))
    }

    async fn get_asset(
        &self,
        request: Request<GetAssetRequest>,
    ) -> Result<Response<GetAssetResponse>, Status> {
        let asset = self.0.get(&request.get_ref().code).await?;
        let asset = Some(convert::asset(&asset));
        Ok(Response::new(GetAssetResponse { asset }))
    }

    async fn list_assets(
        &self,
        request: Request<ListAssetsRequest>,
    ) -> Result<Response<ListAssetsResponse>, Status> {
        let list = request.into_inner().list.unwrap_or_default();
        let page = self.0.list(&list).await?;
        let (assets, page) = page.encode(|asset| convert::asset(&asset));
        let page = Some(page);
        Ok(Response::new(ListAssetsResponse { assets, page }))
    }

    async fn update_asset(
        &self,
        request: Request<UpdateAssetRequest>,
    ) -> Result<Response<UpdateAssetResponse>, Status> {
        let if_version = Versions::of(&request)?;
        let Call { body, .. } = Call::of(request)?;
        let code = body.code.clone();
        let patch = convert::asset_patch(body)?;
        let asset = self.0.update(&code, patch, if_version.as_ref()).await?;
        let asset = Some(convert::asset(&asset));
        Ok(Response::new(UpdateAssetResponse { asset }))
    }
}
