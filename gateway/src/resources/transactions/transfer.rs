//! `POST /transactions/transfer`

use proto::wallet::v1::CreateTransferRequest;
use serde::Deserialize;

use super::Transaction;
use crate::{
    extract::{Call, CustomData, Json},
    resources::result::{self, DataResult},
};

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
