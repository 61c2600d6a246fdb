//! `/transactions`

pub(crate) mod deposit;
pub(crate) mod exchange;
pub(crate) mod history;
pub(crate) mod payment;
pub(crate) mod sending;
pub(crate) mod status;
pub(crate) mod transfer;
pub(crate) mod withdrawal;

use platform::error::Code;
use proto::wallet::v1::{self as wire, GetTransactionRequest, ListTransactionsRequest};
use serde::Serialize;

use super::{
    dto::{self, Raw, Time},
    result::{self, DataResult, ListResult, Located},
};
use crate::{
    error::Problem,
    extract::{Call, ListParams, PathParams},
};

/// A deposit, withdrawal, transfer or exchange, and its status.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Transaction {
    id: String,
    /// `deposit`, `exchange`, `transfer` or `withdrawal`.
    r#type: String,
    /// `<feature>` or `<feature>:<method>`.
    code: String,
    /// `pending`, `processing`, `confirmed`, `failed` or `rejected`.
    status: String,
    asset_code: String,
    amount: String,
    description: Option<String>,
    origin_wallet_id: Option<String>,
    destination_wallet_id: Option<String>,
    origin_address: Option<String>,
    destination_address: Option<String>,
    external_id: Option<String>,
    external_reference: Option<String>,
    /// Unique.
    reference: String,
    custom_data: Raw,
    metadata: Raw,
    /// When a final status was reached.
    processed_at: Option<Time>,
    created_at: Option<Time>,
    updated_at: Option<Time>,
}

/// List transactions.
pub(crate) async fn list(call: Call, ListParams(list): ListParams) -> ListResult<Transaction> {
    let request = call.request(ListTransactionsRequest {
        list: Some(list),
        wallet_id: None,
    });
    result::list(
        call.clients.transactions().list_transactions(request),
        |response| (response.transactions, response.page),
    )
    .await
}

/// Get a transaction.
pub(crate) async fn get(call: Call, path: PathParams) -> DataResult<Transaction> {
    let request = call.request(GetTransactionRequest { id: id(&path)? });
    result::data(
        call.clients.transactions().get_transaction(request),
        |response| response.transaction,
    )
    .await
}

fn id(path: &PathParams) -> Result<String, Problem> {
    path.id("id", Code::TransactionNotFound)
}

impl Located for Transaction {
    fn location(&self) -> String {
        format!("/transactions/{}", self.id)
    }
}

impl From<wire::Transaction> for Transaction {
    fn from(transaction: wire::Transaction) -> Self {
        Self {
            r#type: dto::text(transaction.r#type().as_str_name(), "TRANSACTION_TYPE_"),
            status: dto::text(transaction.status().as_str_name(), "TRANSACTION_STATUS_"),
            id: transaction.id,
            code: transaction.code,
            asset_code: transaction.asset_code,
            amount: transaction.amount,
            description: transaction.description,
            origin_wallet_id: transaction.origin_wallet_id,
            destination_wallet_id: transaction.destination_wallet_id,
            origin_address: transaction.origin_address,
            destination_address: transaction.destination_address,
            external_id: transaction.external_id,
            external_reference: transaction.external_reference,
            reference: transaction.reference,
            custom_data: Raw::of(transaction.custom_data),
            metadata: Raw::of(transaction.metadata),
            processed_at: Time::of(transaction.processed_at),
            created_at: Time::of(transaction.created_at),
            updated_at: Time::of(transaction.updated_at),
        }
    }
}
