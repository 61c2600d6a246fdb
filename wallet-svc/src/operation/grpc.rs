//! `LedgerService`.

use platform::auth::Caller;
use proto::wallet::v1::{
    GetOperationRequest, GetOperationResponse, PostRequest, PostResponse,
    ledger_service_server::LedgerService,
};
use tonic::{Request, Response, Status};

use super::service::Operations;
use crate::transaction::convert;

/// Adapts [`Operations`] to gRPC.
#[derive(Debug, Clone)]
pub struct LedgerApi(
    /// The use cases.
    pub Operations,
);

#[tonic::async_trait]
impl LedgerService for LedgerApi {
    async fn post(&self, request: Request<PostRequest>) -> Result<Response<PostResponse>, Status> {
        let caller = Caller::of(&request)?.clone();
        caller.require_admin()?;
        let posted = self.0.post(&caller, request.into_inner()).await?;
        let transactions = posted.iter().map(convert::transaction).collect();
        Ok(Response::new(PostResponse { transactions }))
    }

    async fn get_operation(
        &self,
        request: Request<GetOperationRequest>,
    ) -> Result<Response<GetOperationResponse>, Status> {
        Caller::of(&request)?.require_admin()?;
        let found = self.0.get(request.into_inner().operation_id).await?;
        let transactions = found.iter().map(convert::transaction).collect();
        Ok(Response::new(GetOperationResponse { transactions }))
    }
}
