//! `/movements`

use platform::error::Code;
use proto::wallet::v1::{self as wire, GetMovementRequest, ListMovementsRequest};
use serde::Serialize;

use super::{
    dto::Time,
    result::{self, DataResult, ListResult},
    transactions::Transaction,
};
use crate::extract::{Call, Includes, ListParams, PathParams};

/// An entry of the ledger.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Movement {
    id: String,
    wallet_id: String,
    transaction_id: String,
    /// With `include=transaction`.
    #[serde(skip_serializing_if = "Option::is_none")]
    transaction: Option<Transaction>,
    asset_code: String,
    /// Negative on a debit.
    amount: String,
    /// The type of its transaction.
    code: String,
    created_at: Option<Time>,
    updated_at: Option<Time>,
}

/// List movements.
pub(crate) async fn list(call: Call, ListParams(list): ListParams) -> ListResult<Movement> {
    let request = call.request(ListMovementsRequest {
        list: Some(list),
        wallet_id: None,
    });
    result::list(
        call.clients.movements().list_movements(request),
        |response| (response.movements, response.page),
    )
    .await
}

/// Get a movement.
pub(crate) async fn get(
    call: Call,
    path: PathParams,
    Includes(include): Includes,
) -> DataResult<Movement> {
    let id = path.id("id", Code::MovementNotFound)?;
    let request = call.request(GetMovementRequest { id, include });
    result::data(call.clients.movements().get_movement(request), |response| {
        response.movement
    })
    .await
}

impl From<wire::Movement> for Movement {
    fn from(movement: wire::Movement) -> Self {
        Self {
            id: movement.id,
            wallet_id: movement.wallet_id,
            transaction_id: movement.transaction_id,
            transaction: movement.transaction.map(Into::into),
            asset_code: movement.asset_code,
            amount: movement.amount,
            code: movement.code,
            created_at: Time::of(movement.created_at),
            updated_at: Time::of(movement.updated_at),
        }
    }
}
