//! `LedgerService`; admins and services only.

use platform::grpc::Call;
use proto::wallet::v1 as wire;
use tonic::{Request, Response, Status};
use wire::ledger_service_server::LedgerService;

use super::{convert, decode, service::Operations};
use crate::{posting::TransactionList, transaction::model::Action};

/// Adapts [`Operations`] to gRPC.
#[derive(Debug, Clone)]
pub(crate) struct OperationGrpc(pub Operations);

#[tonic::async_trait]
impl LedgerService for OperationGrpc {
    async fn post(
        &self,
        request: Request<wire::PostRequest>,
    ) -> Result<Response<wire::PostResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        if body.dry_run {
            self.0.dry_run(body.into()).await?;
            return Ok(Response::new(wire::PostResponse::default()));
        }
        let TransactionList { transactions } = self.0.post(&caller, body.into()).await?;
        Ok(Response::new(wire::PostResponse { transactions }))
    }

    async fn post_many(
        &self,
        request: Request<wire::PostManyRequest>,
    ) -> Result<Response<wire::PostManyResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let requests = decode::operations(body)?;
        let results = self.0.post_many(&caller, requests).await;
        let results = results.into_iter().map(convert::result).collect();
        Ok(Response::new(wire::PostManyResponse { results }))
    }

    async fn hold(
        &self,
        request: Request<wire::HoldRequest>,
    ) -> Result<Response<wire::HoldResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let TransactionList { transactions } = self.0.post(&caller, body.into()).await?;
        Ok(Response::new(wire::HoldResponse { transactions }))
    }

    async fn capture(
        &self,
        request: Request<wire::CaptureRequest>,
    ) -> Result<Response<wire::CaptureResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let captured = self.0.end_hold(&caller, body.operation_id, Action::Confirm);
        let TransactionList { transactions } = captured.await?;
        Ok(Response::new(wire::CaptureResponse { transactions }))
    }

    async fn release(
        &self,
        request: Request<wire::ReleaseRequest>,
    ) -> Result<Response<wire::ReleaseResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let released = self.0.end_hold(&caller, body.operation_id, Action::Fail);
        let TransactionList { transactions } = released.await?;
        Ok(Response::new(wire::ReleaseResponse { transactions }))
    }

    async fn refund(
        &self,
        request: Request<wire::RefundRequest>,
    ) -> Result<Response<wire::RefundResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let TransactionList { transactions } = self.0.refund(&caller, body).await?;
        Ok(Response::new(wire::RefundResponse { transactions }))
    }

    async fn get_operation(
        &self,
        request: Request<wire::GetOperationRequest>,
    ) -> Result<Response<wire::GetOperationResponse>, Status> {
        let Call { body, .. } = Call::of(request)?;
        let TransactionList { transactions } = self.0.get(body.operation_id).await?;
        Ok(Response::new(wire::GetOperationResponse { transactions }))
    }
}
