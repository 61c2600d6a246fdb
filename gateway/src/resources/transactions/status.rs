//! `/transactions/:id/approve`, `confirm`, `fail` and `reject`

use proto::wallet::v1::{
    ApproveTransactionRequest, ConfirmTransactionRequest, FailTransactionRequest,
    RejectTransactionRequest,
};
use serde::Deserialize;

use super::{Transaction, id};
use crate::{
    extract::{Action, Call, JsonText, NoFields, PathParams},
    resources::result::{self, DataResult},
};

/// The reason of a failure or rejection.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reason {
    /// Text or any JSON, at most 1 KiB.
    reason: Option<JsonText>,
}

/// Approve a transaction.
pub(crate) async fn approve(
    call: Call,
    path: PathParams,
    _: Action<NoFields>,
) -> DataResult<Transaction> {
    let request = call.request(ApproveTransactionRequest { id: id(&path)? });
    let mut transactions = call.clients.transactions();
    result::data(transactions.approve_transaction(request), |response| {
        response.transaction
    })
    .await
}

/// Confirm a transaction.
pub(crate) async fn confirm(
    call: Call,
    path: PathParams,
    _: Action<NoFields>,
) -> DataResult<Transaction> {
    let request = call.request(ConfirmTransactionRequest { id: id(&path)? });
    let mut transactions = call.clients.transactions();
    result::data(transactions.confirm_transaction(request), |response| {
        response.transaction
    })
    .await
}

/// Fail a transaction.
pub(crate) async fn fail(
    call: Call,
    path: PathParams,
    Action(body): Action<Reason>,
) -> DataResult<Transaction> {
    let reason = body.reason.map(|reason| reason.0);
    let request = call.request(FailTransactionRequest {
        id: id(&path)?,
        reason,
    });
    result::data(
        call.clients.transactions().fail_transaction(request),
        |response| response.transaction,
    )
    .await
}

/// Reject a transaction.
pub(crate) async fn reject(
    call: Call,
    path: PathParams,
    Action(body): Action<Reason>,
) -> DataResult<Transaction> {
    let reason = body.reason.map(|reason| reason.0);
    let request = call.request(RejectTransactionRequest {
        id: id(&path)?,
        reason,
    });
    let mut transactions = call.clients.transactions();
    result::data(transactions.reject_transaction(request), |response| {
        response.transaction
    })
    .await
}
