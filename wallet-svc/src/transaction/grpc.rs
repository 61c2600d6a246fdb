//! `TransactionService`.

use platform::grpc::{Call, respond};
use proto::wallet::v1 as wire;
use tonic::{Request, Response, Status};
use wire::transaction_service_server::TransactionService;

use super::{activity::Activities, convert, model::Action, service::Transactions};
use crate::wallet::service::Wallets;

/// Adapts [`Transactions`] to gRPC.
#[derive(Debug, Clone)]
pub(crate) struct TransactionGrpc {
    pub(crate) transactions: Transactions,
    pub(crate) wallets: Wallets,
    pub(crate) activities: Activities,
}

#[tonic::async_trait]
impl TransactionService for TransactionGrpc {
    async fn create_deposit(
        &self,
        request: Request<wire::CreateDepositRequest>,
    ) -> Result<Response<wire::CreateDepositResponse>, Status> {
        let Call { caller, key, body } = Call::of(request)?;
        let new = convert::deposit(body);
        let reply = self.transactions.create(&caller, key, new).await?;
        Ok(respond(reply, |transaction| wire::CreateDepositResponse {
            transaction: Some(transaction),
        }))
    }

    async fn create_transfer(
        &self,
        request: Request<wire::CreateTransferRequest>,
    ) -> Result<Response<wire::CreateTransferResponse>, Status> {
        let Call { caller, key, body } = Call::of(request)?;
        let new = convert::transfer(body);
        let reply = self.transactions.create(&caller, key, new).await?;
        Ok(respond(reply, |transaction| wire::CreateTransferResponse {
            transaction: Some(transaction),
        }))
    }

    async fn create_withdrawal(
        &self,
        request: Request<wire::CreateWithdrawalRequest>,
    ) -> Result<Response<wire::CreateWithdrawalResponse>, Status> {
        let Call { caller, key, body } = Call::of(request)?;
        let new = convert::withdrawal(body);
        let reply = self.transactions.create(&caller, key, new).await?;
        Ok(respond(reply, |transaction| {
            wire::CreateWithdrawalResponse {
                transaction: Some(transaction),
            }
        }))
    }

    async fn create_payment(
        &self,
        request: Request<wire::CreatePaymentRequest>,
    ) -> Result<Response<wire::CreatePaymentResponse>, Status> {
        let Call { caller, key, body } = Call::of(request)?;
        let new = convert::payment(body);
        let reply = self.transactions.pay(&caller, key, new).await?;
        Ok(respond(reply, |transaction| wire::CreatePaymentResponse {
            transaction: Some(transaction),
        }))
    }

    async fn send_money(
        &self,
        request: Request<wire::SendMoneyRequest>,
    ) -> Result<Response<wire::SendMoneyResponse>, Status> {
        let Call { caller, key, body } = Call::of(request)?;
        let sending = convert::sending(body)?;
        let reply = self.transactions.send(&caller, key, sending).await?;
        Ok(respond(reply, |transaction| wire::SendMoneyResponse {
            transaction: Some(transaction),
        }))
    }

    async fn create_exchange(
        &self,
        request: Request<wire::CreateExchangeRequest>,
    ) -> Result<Response<wire::CreateExchangeResponse>, Status> {
        let Call { caller, key, body } = Call::of(request)?;
        let new = convert::exchange(body);
        let reply = self.transactions.exchange(&caller, key, new).await?;
        Ok(respond(reply, |transaction| wire::CreateExchangeResponse {
            transaction: Some(transaction),
        }))
    }

    async fn get_transaction(
        &self,
        request: Request<wire::GetTransactionRequest>,
    ) -> Result<Response<wire::GetTransactionResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let found = self.transactions.get(&caller, &body.id).await?;
        let transaction = Some(convert::transaction(&found));
        Ok(Response::new(wire::GetTransactionResponse { transaction }))
    }

    async fn list_transactions(
        &self,
        request: Request<wire::ListTransactionsRequest>,
    ) -> Result<Response<wire::ListTransactionsResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let wallet = self.wallets.find_listed(&caller, body.wallet_id).await?;
        let list = body.list.unwrap_or_default();
        let page = self.transactions.list(&caller, &list, wallet).await?;
        let (transactions, page) = page.encode(|transaction| convert::transaction(&transaction));
        let page = Some(page);
        Ok(Response::new(wire::ListTransactionsResponse {
            transactions,
            page,
        }))
    }

    async fn list_transaction_changes(
        &self,
        request: Request<wire::ListTransactionChangesRequest>,
    ) -> Result<Response<wire::ListTransactionChangesResponse>, Status> {
        let Call { body, .. } = Call::of(request)?;
        let changes = self.transactions.history(&body.id).await?;
        let changes = changes.iter().map(convert::change).collect();
        Ok(Response::new(wire::ListTransactionChangesResponse {
            changes,
        }))
    }

    async fn list_activity(
        &self,
        request: Request<wire::ListActivityRequest>,
    ) -> Result<Response<wire::ListActivityResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let wallet = self.wallets.find_listed(&caller, body.wallet_id).await?;
        let list = body.list.unwrap_or_default();
        let page = self.activities.list(&caller, &list, wallet).await?;
        Ok(Response::new(page.encode()))
    }

    async fn approve_transaction(
        &self,
        request: Request<wire::ApproveTransactionRequest>,
    ) -> Result<Response<wire::ApproveTransactionResponse>, Status> {
        let Call { caller, key, body } = Call::of(request)?;
        let transactions = &self.transactions;
        let reply = transactions.advance(&caller, key, &body.id, Action::Approve, None);
        Ok(respond(reply.await?, |transaction| {
            wire::ApproveTransactionResponse {
                transaction: Some(transaction),
            }
        }))
    }

    async fn confirm_transaction(
        &self,
        request: Request<wire::ConfirmTransactionRequest>,
    ) -> Result<Response<wire::ConfirmTransactionResponse>, Status> {
        let Call { caller, key, body } = Call::of(request)?;
        let transactions = &self.transactions;
        let reply = transactions.advance(&caller, key, &body.id, Action::Confirm, None);
        Ok(respond(reply.await?, |transaction| {
            wire::ConfirmTransactionResponse {
                transaction: Some(transaction),
            }
        }))
    }

    async fn fail_transaction(
        &self,
        request: Request<wire::FailTransactionRequest>,
    ) -> Result<Response<wire::FailTransactionResponse>, Status> {
        let Call { caller, key, body } = Call::of(request)?;
        let transactions = &self.transactions;
        let reply = transactions.advance(&caller, key, &body.id, Action::Fail, body.reason);
        Ok(respond(reply.await?, |transaction| {
            wire::FailTransactionResponse {
                transaction: Some(transaction),
            }
        }))
    }

    async fn reject_transaction(
        &self,
        request: Request<wire::RejectTransactionRequest>,
    ) -> Result<Response<wire::RejectTransactionResponse>, Status> {
        let Call { caller, key, body } = Call::of(request)?;
        let transactions = &self.transactions;
        let reply = transactions.advance(&caller, key, &body.id, Action::Reject, body.reason);
        Ok(respond(reply.await?, |transaction| {
            wire::RejectTransactionResponse {
                transaction: Some(transaction),
            }
        }))
    }
}
