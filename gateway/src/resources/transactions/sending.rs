//! `POST /transactions/send`

use proto::wallet::v1::SendMoneyRequest;
use serde::Deserialize;

use super::Transaction;
use crate::{
    extract::{Call, CustomData, Id, Json, Note, PositiveAmount, Text},
    resources::result::{self, DataResult},
};

/// A transfer to a wallet or a user, confirmed on creation.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewSending {
    amount: PositiveAmount,
    asset_code: Text,
    origin_wallet_id: Id,
    /// Required without `destinationEmail`.
    destination_wallet_id: Option<Id>,
    /// The email of a user, whose primary wallet gets the money; in place of `destinationWalletId`.
    destination_email: Option<Text>,
    custom_data: Option<CustomData>,
    description: Option<Note>,
}

/// Send money to a wallet or a user.
///
/// An email that no user has is a 422 that names `destinationEmail`, and so is that of a user who is blocked
/// or whose wallet is locked. It comes after everything else that is wrong. A user may send 20 times at once,
/// then 20 times a minute.
pub(crate) async fn create(call: Call, Json(body): Json<NewSending>) -> DataResult<Transaction> {
    let request = call.request(body.into());
    let mut transactions = call.clients.transactions();
    result::created(transactions.send_money(request), |response| {
        response.transaction
    })
    .await
}

impl From<NewSending> for SendMoneyRequest {
    fn from(body: NewSending) -> Self {
        Self {
            amount: body.amount.into(),
            asset_code: body.asset_code.into(),
            origin_wallet_id: body.origin_wallet_id.into(),
            destination_wallet_id: body.destination_wallet_id.map(Into::into),
            destination_email: body.destination_email.map(Into::into),
            custom_data: body.custom_data.map(Into::into),
            description: body.description.map(Into::into),
        }
    }
}
