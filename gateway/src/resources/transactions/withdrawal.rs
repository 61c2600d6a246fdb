//! `POST /transactions/withdrawal`

use proto::wallet::v1::CreateWithdrawalRequest;
use serde::Deserialize;

use super::Transaction;
use crate::{
    extract::{Call, CustomData, Id, Json, Note, PositiveAmount, Text},
    resources::result::{self, DataResult},
};

/// A withdrawal to the outside.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewWithdrawal {
    amount: PositiveAmount,
    asset_code: Text,
    code: Text,
    origin_wallet_id: Id,
    /// Created as processing.
    commit: Option<bool>,
    custom_data: Option<CustomData>,
    description: Option<Note>,
    origin_address: Option<Text>,
    external_reference: Option<Text>,
}

/// Create a withdrawal.
pub(crate) async fn create(call: Call, Json(body): Json<NewWithdrawal>) -> DataResult<Transaction> {
    let request = call.request(body.into());
    let mut transactions = call.clients.transactions();
    result::created(transactions.create_withdrawal(request), |response| {
        response.transaction
    })
    .await
}

impl From<NewWithdrawal> for CreateWithdrawalRequest {
    fn from(body: NewWithdrawal) -> Self {
        Self {
            amount: body.amount.into(),
            asset_code: body.asset_code.into(),
            code: body.code.into(),
            origin_wallet_id: body.origin_wallet_id.into(),
            commit: body.commit.unwrap_or_default(),
            custom_data: body.custom_data.map(Into::into),
            description: body.description.map(Into::into),
            origin_address: body.origin_address.map(Into::into),
            external_reference: body.external_reference.map(Into::into),
        }
    }
}
