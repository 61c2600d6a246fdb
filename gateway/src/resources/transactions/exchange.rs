//! `POST /transactions/exchange`

use proto::wallet::v1::CreateExchangeRequest;
use serde::Deserialize;

use super::Transaction;
use crate::{
    extract::{Call, CustomData, Id, Json, Note, PositiveAmount, Text},
    resources::result::{self, DataResult},
};

/// An exchange into another asset at the current rate.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewExchange {
    wallet_id: Id,
    /// Debited.
    base_asset_code: Text,
    /// Credited.
    quote_asset_code: Text,
    /// In the base asset.
    base_amount: PositiveAmount,
    custom_data: Option<CustomData>,
    description: Option<Note>,
}

/// Create an exchange.
pub(crate) async fn create(call: Call, Json(body): Json<NewExchange>) -> DataResult<Transaction> {
    let request = call.request(body.into());
    let mut transactions = call.clients.transactions();
    result::created(transactions.create_exchange(request), |response| {
        response.transaction
    })
    .await
}

impl From<NewExchange> for CreateExchangeRequest {
    fn from(body: NewExchange) -> Self {
        Self {
            wallet_id: body.wallet_id.into(),
            base_asset_code: body.base_asset_code.into(),
            quote_asset_code: body.quote_asset_code.into(),
            base_amount: body.base_amount.into(),
            custom_data: body.custom_data.map(Into::into),
            description: body.description.map(Into::into),
        }
    }
}
