//! `POST /orders/:id/cancel`

use proto::orders::v1::CancelOrderRequest;
use serde::Deserialize;

use super::{Changed, Order, id};
use crate::{
    extract::{Action, Amount, Call, Json, PathParams, TextOrList},
    resources::result::{self, DataResult},
};

/// A cancellation with its refund.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Cancellation {
    /// Text or a list.
    reason: Option<TextOrList>,
    /// Default: the paid amount.
    refund_amount: Option<Amount>,
}

/// Cancel and refund an order.
pub(crate) async fn cancel(
    call: Call,
    path: PathParams,
    Action(body): Action<Cancellation>,
) -> DataResult<Order> {
    send_cancellation(call, path, body).await
}

/// Cancel and refund an order.
pub(crate) async fn cancel_by_client(
    call: Call,
    path: PathParams,
    Json(body): Json<Cancellation>,
) -> DataResult<Order> {
    send_cancellation(call, path, body).await
}

async fn send_cancellation(call: Call, path: PathParams, body: Cancellation) -> DataResult<Order> {
    let message = CancelOrderRequest {
        id: id(&path)?,
        reason: body.reason.map(Into::into),
        refund_amount: body.refund_amount.map(Into::into),
    };
    let mut orders = call.clients.orders();
    result::data(orders.cancel_order(call.request(message)), |response| {
        response.order.map(Changed)
    })
    .await
}
