//! `POST /orders/:id/refund`

use proto::orders::v1::{RefundOrderRequest, RefundedLine};
use serde::Deserialize;

use super::{Changed, Order, id};
use crate::{
    extract::{Action, Call, Id, Many, PathParams, PositiveAmount, Quantity, TextOrList},
    resources::result::{self, DataResult},
};

/// Units of a line to refund.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RefundedUnits {
    line_id: Id,
    /// At most the units that were not refunded before.
    quantity: Quantity,
}

/// A refund: of an amount, or of price and tax of units.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Refund {
    /// At most the paid amount. Needed without `lines`.
    amount: Option<PositiveAmount>,
    /// 1 to 200, each line once. Needed without `amount`.
    #[schema(value_type = Option<Vec<RefundedUnits>>, min_items = 1, max_items = 200)]
    lines: Option<Many<RefundedUnits, 1, 200>>,
    /// Text or a list.
    reason: Option<TextOrList>,
}

/// Refund an order in full or in part.
///
/// In any state of the order, as often as something of it is paid. The newest payment is given back
/// first, to the wallet that it came from.
pub(crate) async fn refund(
    call: Call,
    path: PathParams,
    Action(body): Action<Refund>,
) -> DataResult<Order> {
    let lines = body.lines.map(|lines| lines.0).unwrap_or_default();
    let message = RefundOrderRequest {
        id: id(&path)?,
        amount: body.amount.map(Into::into),
        lines: lines.into_iter().map(Into::into).collect(),
        reason: body.reason.map(Into::into),
    };
    let mut orders = call.clients.orders();
    result::data(orders.refund_order(call.request(message)), |response| {
        response.order.map(Changed)
    })
    .await
}

impl From<RefundedUnits> for RefundedLine {
    fn from(units: RefundedUnits) -> Self {
        Self {
            line_id: units.line_id.into(),
            quantity: units.quantity.into(),
        }
    }
}
