//! `POST /transactions/deposit`

use proto::wallet::v1::CreateDepositRequest;
use serde::Deserialize;

use super::Transaction;
use crate::{
    extract::{Call, CustomData, Json, JsonObject},
    resources::result::{self, DataResult},
};

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

/// Create a deposit.
pub(crate) async fn create(call: Call, Json(body): Json<NewDeposit>) -> DataResult<Transaction> {
    let request = call.request(body.into());
    let mut transactions = call.clients.transactions();
    result::created(transactions.create_deposit(request), |response| {
        response.transaction
    })
    .await
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
