//! `TransactionService`.

use platform::{
    auth::Caller,
    idempotency::{self, Key},
};
use proto::wallet::v1 as wire;
use tonic::{Request, Response, Status};
use wire::transaction_service_server::TransactionService;

use super::{
    activity::Activities,
    convert,
    decode::{deposit, exchange, payment, transfer, withdrawal},
    model::Action,
    service::Transactions,
};
use crate::{posting::Answer, wallet::service::Wallets};

/// Adapts [`Transactions`] to gRPC.
#[derive(Debug, Clone)]
pub struct TransactionGrpc {
    /// The use cases.
    pub transactions: Transactions,
    /// For the lists of one wallet.
    pub wallets: Wallets,
    /// With what is embedded.
    pub activities: Activities,
}

/// The answer, made now or recorded before.
fn respond<T: prost::Message + Default>(
    answer: Answer,
    encode: impl FnOnce(Option<wire::Transaction>) -> T,
) -> Result<Response<T>, Status> {
    let answer = match answer {
        Answer::Replay(recorded) => idempotency::Reply::replay(&recorded)?,
        Answer::Done { transactions, .. } => {
            let transaction = transactions.first().map(convert::transaction);
            idempotency::Reply::fresh(encode(transaction))
        }
    };
    Ok(answer.into_response())
}

impl TransactionGrpc {
    async fn advance<T, R: prost::Message + Default>(
        &self,
        request: Request<T>,
        action: Action,
        read: impl FnOnce(T) -> (String, Option<String>),
        encode: impl FnOnce(Option<wire::Transaction>) -> R,
    ) -> Result<Response<R>, Status> {
        let (caller, key) = (Caller::of(&request)?.clone(), Key::from_request(&request)?);
        let (id, reason) = read(request.into_inner());
        let advanced = self.transactions.advance(&caller, key, &id, action, reason);
        respond(advanced.await?, encode)
    }
}

#[tonic::async_trait]
impl TransactionService for TransactionGrpc {
    async fn create_deposit(
        &self,
        request: Request<wire::CreateDepositRequest>,
    ) -> Result<Response<wire::CreateDepositResponse>, Status> {
        let (caller, key) = (Caller::of(&request)?.clone(), Key::from_request(&request)?);
        let new = deposit(request.into_inner());
        let answer = self.transactions.create(&caller, key, new).await?;
        respond(answer, |transaction| wire::CreateDepositResponse {
            transaction,
        })
    }

    async fn create_transfer(
        &self,
        request: Request<wire::CreateTransferRequest>,
    ) -> Result<Response<wire::CreateTransferResponse>, Status> {
        let (caller, key) = (Caller::of(&request)?.clone(), Key::from_request(&request)?);
        let new = transfer(request.into_inner());
        let answer = self.transactions.create(&caller, key, new).await?;
        respond(answer, |transaction| wire::CreateTransferResponse {
            transaction,
        })
    }

    async fn create_withdrawal(
        &self,
        request: Request<wire::CreateWithdrawalRequest>,
    ) -> Result<Response<wire::CreateWithdrawalResponse>, Status> {
        let (caller, key) = (Caller::of(&request)?.clone(), Key::from_request(&request)?);
        let new = withdrawal(request.into_inner());
        let answer = self.transactions.create(&caller, key, new).await?;
        respond(answer, |transaction| wire::CreateWithdrawalResponse {
            transaction,
        })
    }

    async fn create_payment(
        &self,
        request: Request<wire::CreatePaymentRequest>,
    ) -> Result<Response<wire::CreatePaymentResponse>, Status> {
        let (caller, key) = (Caller::of(&request)?.clone(), Key::from_request(&request)?);
        let new = payment(request.into_inner());
        let answer = self.transactions.pay(&caller, key, new).await?;
        respond(answer, |transaction| wire::CreatePaymentResponse {
            transaction,
        })
    }

    async fn create_exchange(
        &self,
        request: Request<wire::CreateExchangeRequest>,
    ) -> Result<Response<wire::CreateExchangeResponse>, Status> {
        let (caller, key) = (Caller::of(&request)?.clone(), Key::from_request(&request)?);
        let new = exchange(request.into_inner());
        let answer = self.transactions.exchange(&caller, key, new).await?;
        respond(answer, |transaction| wire::CreateExchangeResponse {
            transaction,
        })
    }

    async fn get_transaction(
        &self,
        request: Request<wire::GetTransactionRequest>,
    ) -> Result<Response<wire::GetTransactionResponse>, Status> {
        let caller = Caller::of(&request)?;
        let found = self.transactions.get(caller, &request.get_ref().id).await?;
        let transaction = Some(convert::transaction(&found));
        Ok(Response::new(wire::GetTransactionResponse { transaction }))
    }

    async fn list_transactions(
        &self,
        request: Request<wire::ListTransactionsRequest>,
    ) -> Result<Response<wire::ListTransactionsResponse>, Status> {
        let caller = Caller::of(&request)?.clone();
        let request = request.into_inner();
        let wallet = match &request.wallet_id {
            Some(id) => Some(self.wallets.get(&caller, id).await?.id),
            None => None,
        };
        let list = request.list.unwrap_or_default();
        let page = self.transactions.list(&caller, &list, wallet).await?;
        Ok(Response::new(wire::ListTransactionsResponse {
            page: Some(page.info()),
            transactions: page.rows.iter().map(convert::transaction).collect(),
        }))
    }

    async fn list_transaction_changes(
        &self,
        request: Request<wire::ListTransactionChangesRequest>,
    ) -> Result<Response<wire::ListTransactionChangesResponse>, Status> {
        let caller = Caller::of(&request)?;
        let id = &request.get_ref().id;
        let changes = self.transactions.history(caller, id).await?;
        let changes = changes.iter().map(convert::change).collect();
        Ok(Response::new(wire::ListTransactionChangesResponse {
            changes,
        }))
    }

    async fn list_activity(
        &self,
        request: Request<wire::ListActivityRequest>,
    ) -> Result<Response<wire::ListActivityResponse>, Status> {
        let caller = Caller::of(&request)?.clone();
        let request = request.into_inner();
        let wallet = match &request.wallet_id {
            Some(id) => Some(self.wallets.get(&caller, id).await?.id),
            None => None,
        };
        let list = request.list.unwrap_or_default();
        let page = self.activities.list(&caller, &list, wallet).await?;
        Ok(Response::new(page.encode()))
    }

    async fn approve_transaction(
        &self,
        request: Request<wire::ApproveTransactionRequest>,
    ) -> Result<Response<wire::ApproveTransactionResponse>, Status> {
        self.advance(
            request,
            Action::Approve,
            |request| (request.id, None),
            |transaction| wire::ApproveTransactionResponse { transaction },
        )
        .await
    }

    async fn confirm_transaction(
        &self,
        request: Request<wire::ConfirmTransactionRequest>,
    ) -> Result<Response<wire::ConfirmTransactionResponse>, Status> {
        self.advance(
            request,
            Action::Confirm,
            |request| (request.id, None),
            |transaction| wire::ConfirmTransactionResponse { transaction },
        )
        .await
    }

    async fn fail_transaction(
        &self,
        request: Request<wire::FailTransactionRequest>,
    ) -> Result<Response<wire::FailTransactionResponse>, Status> {
        self.advance(
            request,
            Action::Fail,
            |request| (request.id, request.reason),
            |transaction| wire::FailTransactionResponse { transaction },
        )
        .await
    }

    async fn reject_transaction(
        &self,
        request: Request<wire::RejectTransactionRequest>,
    ) -> Result<Response<wire::RejectTransactionResponse>, Status> {
        self.advance(
            request,
            Action::Reject,
            |request| (request.id, request.reason),
            |transaction| wire::RejectTransactionResponse { transaction },
        )
        .await
    }
}
