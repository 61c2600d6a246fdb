//! `AssetService`.

use proto::wallet::v1::{
    GetAssetRequest, GetAssetResponse, ListAssetsRequest, ListAssetsResponse,
    asset_service_server::AssetService,
};
use sqlx::PgPool;
use tonic::{Request, Response, Status};

use super::{convert, repo};
use crate::error::Error;

/// Answers about assets; everybody may ask.
#[derive(Debug, Clone)]
pub struct AssetApi {
    pool: PgPool,
}

impl AssetApi {
    /// Reads from this pool.
    pub const fn new(pool: PgPool) -> Self {
        Self { pool }
    }
}

#[tonic::async_trait]
impl AssetService for AssetApi {
    async fn get_asset(
        &self,
        request: Request<GetAssetRequest>,
    ) -> Result<Response<GetAssetResponse>, Status> {
        let found = repo::find_asset(&self.pool, &request.get_ref().code).await;
        let asset = found.map_err(Error::from)?.ok_or(Error::AssetNotFound)?;
        let asset = Some(convert::asset(&asset));
        Ok(Response::new(GetAssetResponse { asset }))
    }

    async fn list_assets(
        &self,
        request: Request<ListAssetsRequest>,
    ) -> Result<Response<ListAssetsResponse>, Status> {
        let list = request.into_inner().list.unwrap_or_default();
        let mut conn = self.pool.acquire().await.map_err(Error::from)?;
        let page = repo::list_assets(&mut conn, &list).await?;
        Ok(Response::new(ListAssetsResponse {
            page: Some(page.info()),
            assets: page.rows.iter().map(convert::asset).collect(),
        }))
    }
}
