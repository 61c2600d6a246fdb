//! `POST /transactions/pay`

use proto::wallet::v1::CreatePaymentRequest;
use serde::Deserialize;

use super::Transaction;
use crate::{
    extract::{Call, CustomData, Id, Json, Note, PositiveAmount, Text},
    resources::result::{self, DataResult},
};

/// A transfer to the default wallet, confirmed on creation.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewPayment {
    amount: PositiveAmount,
    asset_code: Text,
    origin_wallet_id: Id,
    custom_data: Option<CustomData>,
    description: Option<Note>,
}

/// Create a payment to the default wallet.
pub(crate) async fn create(call: Call, Json(body): Json<NewPayment>) -> DataResult<Transaction> {
    let request = call.request(body.into());
    let mut transactions = call.clients.transactions();
    result::created(transactions.create_payment(request), |response| {
        response.transaction
    })
    .await
}

impl From<NewPayment> for CreatePaymentRequest {
    fn from(body: NewPayment) -> Self {
        Self {
            amount: body.amount.into(),
            asset_code: body.asset_code.into(),
            origin_wallet_id: body.origin_wallet_id.into(),
            custom_data: body.custom_data.map(Into::into),
            description: body.description.map(Into::into),
        }
    }
}
