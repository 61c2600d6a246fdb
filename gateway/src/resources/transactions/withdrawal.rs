//! `POST /transactions/withdrawal`

use proto::wallet::v1::CreateWithdrawalRequest;
use serde::Deserialize;

use super::Transaction;
use crate::{
    extract::{Call, CustomData, Json},
    resources::result::{self, DataResult},
};

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
