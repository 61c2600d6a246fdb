//! `POST /transactions/exchange`

use proto::wallet::v1::CreateExchangeRequest;
use serde::Deserialize;

use super::Transaction;
use crate::{
    extract::{Call, CustomData, Json},
    resources::result::{self, DataResult},
};

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
            wallet_id: body.wallet_id,
            base_asset_code: body.base_asset_code,
            quote_asset_code: body.quote_asset_code,
            base_amount: body.base_amount,
            custom_data: body.custom_data.map(|data| data.0),
            description: body.description,
        }
    }
}
