//! `LedgerService`.

use platform::auth::Caller;
use proto::wallet::v1 as wire;
use tonic::{Request, Response, Status};
use wire::ledger_service_server::LedgerService;

use super::service::Operations;
use crate::{
    ledger::Mode,
    transaction::{
        convert,
        model::{Action, Transaction},
    },
};

/// Adapts [`Operations`] to gRPC.
#[derive(Debug, Clone)]
pub struct OperationGrpc(
    /// The use cases.
    pub Operations,
);

fn admin<T>(request: &Request<T>) -> Result<Caller, Status> {
    let caller = Caller::of(request)?.clone();
    caller.require_admin()?;
    Ok(caller)
}

fn encode(transactions: &[Transaction]) -> Vec<wire::Transaction> {
    transactions.iter().map(convert::transaction).collect()
}

#[tonic::async_trait]
impl LedgerService for OperationGrpc {
    async fn post(
        &self,
        request: Request<wire::PostRequest>,
    ) -> Result<Response<wire::PostResponse>, Status> {
        let (caller, request) = (admin(&request)?, request.into_inner());
        let (id, postings) = (request.operation_id, request.postings);
        let posted = self.0.post(&caller, id, postings, Mode::Post).await?;
        let transactions = encode(&posted);
        Ok(Response::new(wire::PostResponse { transactions }))
    }

    async fn hold(
        &self,
        request: Request<wire::HoldRequest>,
    ) -> Result<Response<wire::HoldResponse>, Status> {
        let (caller, request) = (admin(&request)?, request.into_inner());
        let (id, postings) = (request.operation_id, request.postings);
        let held = self.0.post(&caller, id, postings, Mode::Hold).await?;
        let transactions = encode(&held);
        Ok(Response::new(wire::HoldResponse { transactions }))
    }

    async fn capture(
        &self,
        request: Request<wire::CaptureRequest>,
    ) -> Result<Response<wire::CaptureResponse>, Status> {
        let (caller, request) = (admin(&request)?, request.into_inner());
        let captured = self
            .0
            .end_hold(&caller, request.operation_id, Action::Confirm);
        let transactions = encode(&captured.await?);
        Ok(Response::new(wire::CaptureResponse { transactions }))
    }

    async fn release(
        &self,
        request: Request<wire::ReleaseRequest>,
    ) -> Result<Response<wire::ReleaseResponse>, Status> {
        let (caller, request) = (admin(&request)?, request.into_inner());
        let released = self.0.end_hold(&caller, request.operation_id, Action::Fail);
        let transactions = encode(&released.await?);
        Ok(Response::new(wire::ReleaseResponse { transactions }))
    }

    async fn refund(
        &self,
        request: Request<wire::RefundRequest>,
    ) -> Result<Response<wire::RefundResponse>, Status> {
        let caller = admin(&request)?;
        let refunded = self.0.refund(&caller, request.into_inner()).await?;
        let transactions = encode(&refunded);
        Ok(Response::new(wire::RefundResponse { transactions }))
    }

    async fn get_operation(
        &self,
        request: Request<wire::GetOperationRequest>,
    ) -> Result<Response<wire::GetOperationResponse>, Status> {
        admin(&request)?;
        let found = self.0.get(request.into_inner().operation_id).await?;
        let transactions = encode(&found);
        Ok(Response::new(wire::GetOperationResponse { transactions }))
    }
}
