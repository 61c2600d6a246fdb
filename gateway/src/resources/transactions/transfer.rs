//! `POST /transactions/transfer`

use proto::wallet::v1::CreateTransferRequest;
use serde::Deserialize;

use super::Transaction;
use crate::{
    extract::{Call, CustomData, Id, Json, Note, PositiveAmount, Text},
    resources::result::{self, DataResult},
};

/// A transfer between wallets.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewTransfer {
    amount: PositiveAmount,
    asset_code: Text,
    code: Text,
    origin_wallet_id: Id,
    destination_wallet_id: Id,
    /// Confirmed on creation.
    commit: Option<bool>,
    custom_data: Option<CustomData>,
    description: Option<Note>,
    origin_address: Option<Text>,
    destination_address: Option<Text>,
    external_reference: Option<Text>,
}

/// Create a transfer.
pub(crate) async fn create(call: Call, Json(body): Json<NewTransfer>) -> DataResult<Transaction> {
    let request = call.request(body.into());
    let mut transactions = call.clients.transactions();
    result::created(transactions.create_transfer(request), |response| {
        response.transaction
    })
    .await
}

impl From<NewTransfer> for CreateTransferRequest {
    fn from(body: NewTransfer) -> Self {
        Self {
            amount: body.amount.into(),
            asset_code: body.asset_code.into(),
            code: body.code.into(),
            origin_wallet_id: body.origin_wallet_id.into(),
            destination_wallet_id: body.destination_wallet_id.into(),
            commit: body.commit.unwrap_or_default(),
            custom_data: body.custom_data.map(Into::into),
            description: body.description.map(Into::into),
            origin_address: body.origin_address.map(Into::into),
            destination_address: body.destination_address.map(Into::into),
            external_reference: body.external_reference.map(Into::into),
        }
    }
}
