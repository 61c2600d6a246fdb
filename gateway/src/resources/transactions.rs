//! `/transactions`

use platform::error::Code;
use proto::wallet::v1::{
    self as wire, ApproveTransactionRequest, ConfirmTransactionRequest, CreateDepositRequest,
    CreateExchangeRequest, CreatePaymentRequest, CreateTransferRequest, CreateWithdrawalRequest,
    FailTransactionRequest, GetTransactionRequest, ListTransactionChangesRequest,
    ListTransactionsRequest, RejectTransactionRequest,
};
use serde::{Deserialize, Serialize};

use super::{
    dto::{self, Raw, Time},
    result::{self, DataResult, ListResult, Located},
};
use crate::{
    error::Problem,
    extract::{
        Action, Call, CustomData, Json, JsonObject, JsonText, ListParams, NoFields, PathParams,
    },
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

/// A deposit from outside.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewDeposit {
    amount: String,
    asset_code: String,
    code: String,
    /// Depends on the code; `{}` is enough for `internal`.
    #[schema(value_type = Object)]
    data: JsonObject,
    destination_wallet_id: String,
    /// Created as processing; only for the features crypto, bank and internal.
    commit: Option<bool>,
    #[schema(value_type = Option<Object>)]
    custom_data: Option<CustomData>,
    description: Option<String>,
    destination_address: Option<String>,
    external_reference: Option<String>,
}

/// A transfer between wallets.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewTransfer {
    amount: String,
    asset_code: String,
    code: String,
    origin_wallet_id: String,
    destination_wallet_id: String,
    /// Confirmed on creation.
    commit: Option<bool>,
    #[schema(value_type = Option<Object>)]
    custom_data: Option<CustomData>,
    description: Option<String>,
    origin_address: Option<String>,
    destination_address: Option<String>,
    external_reference: Option<String>,
}

/// A withdrawal to the outside.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewWithdrawal {
    amount: String,
    asset_code: String,
    code: String,
    origin_wallet_id: String,
    /// Created as processing.
    commit: Option<bool>,
    #[schema(value_type = Option<Object>)]
    custom_data: Option<CustomData>,
    description: Option<String>,
    origin_address: Option<String>,
    external_reference: Option<String>,
}

/// A transfer to the default wallet, confirmed on creation.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewPayment {
    amount: String,
    asset_code: String,
    origin_wallet_id: String,
    #[schema(value_type = Option<Object>)]
    custom_data: Option<CustomData>,
    description: Option<String>,
}

/// An exchange into another asset at the current rate.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewExchange {
    wallet_id: String,
    /// Debited.
    base_asset_code: String,
    /// Credited.
    quote_asset_code: String,
    /// In the base asset.
    base_amount: String,
    #[schema(value_type = Option<Object>)]
    custom_data: Option<CustomData>,
    description: Option<String>,
}

/// A status change of a transaction.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TransactionChange {
    /// The status before; `null` for the creation.
    from: Option<String>,
    /// The status after.
    to: String,
    /// `user:<id>`, `key:<id>` or `service:<name>`.
    actor: String,
    created_at: Option<Time>,
}

/// The reason of a failure or rejection.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reason {
    /// Text or any JSON, at most 1 KiB.
    #[schema(value_type = Option<Object>)]
    reason: Option<JsonText>,
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

/// Create a deposit.
pub(crate) async fn deposit(call: Call, Json(body): Json<NewDeposit>) -> DataResult<Transaction> {
    let request = call.request(body.into());
    let mut transactions = call.clients.transactions();
    result::created(transactions.create_deposit(request), |response| {
        response.transaction
    })
    .await
}

/// Create a transfer.
pub(crate) async fn transfer(call: Call, Json(body): Json<NewTransfer>) -> DataResult<Transaction> {
    let request = call.request(body.into());
    let mut transactions = call.clients.transactions();
    result::created(transactions.create_transfer(request), |response| {
        response.transaction
    })
    .await
}

/// Create a withdrawal.
pub(crate) async fn withdrawal(
    call: Call,
    Json(body): Json<NewWithdrawal>,
) -> DataResult<Transaction> {
    let request = call.request(body.into());
    let mut transactions = call.clients.transactions();
    result::created(transactions.create_withdrawal(request), |response| {
        response.transaction
    })
    .await
}

/// Create a payment to the default wallet.
pub(crate) async fn pay(call: Call, Json(body): Json<NewPayment>) -> DataResult<Transaction> {
    let request = call.request(body.into());
    let mut transactions = call.clients.transactions();
    result::created(transactions.create_payment(request), |response| {
        response.transaction
    })
    .await
}

/// Create an exchange.
pub(crate) async fn exchange(call: Call, Json(body): Json<NewExchange>) -> DataResult<Transaction> {
    let request = call.request(body.into());
    let mut transactions = call.clients.transactions();
    result::created(transactions.create_exchange(request), |response| {
        response.transaction
    })
    .await
}

/// List status changes of a transaction.
pub(crate) async fn history(call: Call, path: PathParams) -> ListResult<TransactionChange> {
    let request = call.request(ListTransactionChangesRequest { id: id(&path)? });
    let mut transactions = call.clients.transactions();
    result::whole_list(transactions.list_transaction_changes(request), |response| {
        response.changes
    })
    .await
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

impl From<wire::TransactionChange> for TransactionChange {
    fn from(change: wire::TransactionChange) -> Self {
        let name = |status: wire::TransactionStatus| {
            dto::text(status.as_str_name(), "TRANSACTION_STATUS_")
        };
        Self {
            from: change.from.is_some().then(|| name(change.from())),
            to: name(change.to()),
            actor: change.actor,
            created_at: Time::of(change.created_at),
        }
    }
}

impl From<NewExchange> for CreateExchangeRequest {
    fn from(body: NewExchange) -> Self {
        Self {
            wallet_id: body.wallet_id,
            base_asset_code: body.base_asset_code,
            quote_asset_code: body.quote_asset_code,
            base_amount: body.base_amount,
            custom_data: body.custom_data.map(|data| data.0),
            description: body.description,
        }
    }
}

impl From<NewDeposit> for CreateDepositRequest {
    fn from(body: NewDeposit) -> Self {
        Self {
            amount: body.amount,
            asset_code: body.asset_code,
            code: body.code,
            data: body.data.0,
            destination_wallet_id: body.destination_wallet_id,
            commit: body.commit.unwrap_or_default(),
            custom_data: body.custom_data.map(|data| data.0),
            description: body.description,
            destination_address: body.destination_address,
            external_reference: body.external_reference,
        }
    }
}

impl From<NewTransfer> for CreateTransferRequest {
    fn from(body: NewTransfer) -> Self {
        Self {
            amount: body.amount,
            asset_code: body.asset_code,
            code: body.code,
            origin_wallet_id: body.origin_wallet_id,
            destination_wallet_id: body.destination_wallet_id,
            commit: body.commit.unwrap_or_default(),
            custom_data: body.custom_data.map(|data| data.0),
            description: body.description,
            origin_address: body.origin_address,
            destination_address: body.destination_address,
            external_reference: body.external_reference,
        }
    }
}

impl From<NewWithdrawal> for CreateWithdrawalRequest {
    fn from(body: NewWithdrawal) -> Self {
        Self {
            amount: body.amount,
            asset_code: body.asset_code,
            code: body.code,
            origin_wallet_id: body.origin_wallet_id,
            commit: body.commit.unwrap_or_default(),
            custom_data: body.custom_data.map(|data| data.0),
            description: body.description,
            origin_address: body.origin_address,
            external_reference: body.external_reference,
        }
    }
}

impl From<NewPayment> for CreatePaymentRequest {
    fn from(body: NewPayment) -> Self {
        Self {
            amount: body.amount,
            asset_code: body.asset_code,
            origin_wallet_id: body.origin_wallet_id,
            custom_data: body.custom_data.map(|data| data.0),
            description: body.description,
        }
    }
}
