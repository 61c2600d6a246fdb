//! `POST /transactions/deposit`

use proto::wallet::v1::CreateDepositRequest;
use serde::Deserialize;

use super::Transaction;
use crate::{
    extract::{Call, CustomData, Id, Json, JsonObject, Note, PositiveAmount, Text},
    resources::result::{self, DataResult},
};

/// A deposit from outside.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewDeposit {
    amount: PositiveAmount,
    asset_code: Text,
    code: Text,
    /// Depends on the code; `{}` is enough for `internal`.
    data: JsonObject,
    destination_wallet_id: Id,
    /// Created as processing; only for the features crypto, bank and internal.
    commit: Option<bool>,
    custom_data: Option<CustomData>,
    description: Option<Note>,
    destination_address: Option<Text>,
    external_reference: Option<Text>,
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
            amount: body.amount.into(),
            asset_code: body.asset_code.into(),
            code: body.code.into(),
            data: body.data.into(),
            destination_wallet_id: body.destination_wallet_id.into(),
            commit: body.commit.unwrap_or_default(),
            custom_data: body.custom_data.map(Into::into),
            description: body.description.map(Into::into),
            destination_address: body.destination_address.map(Into::into),
            external_reference: body.external_reference.map(Into::into),
        }
    }
}
