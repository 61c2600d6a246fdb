//! `/orders`

use platform::{error::Code, patch::Patch};
use proto::orders::v1::{
    self as wire, FulfillOrderRequest, GetOrderRequest, ListOrdersRequest, PayOrderRequest,
    UnfulfillOrderRequest, UpdateOrderRequest,
};
use serde::{Deserialize, Serialize};

use super::{
    dto::{self, Mask, Raw, Time},
    order_lines::OrderLine,
    result::{self, DataResult, ListResult, Located, Versioned},
};
use crate::{
    error::Problem,
    extract::{Action, Call, Id, Json, ListParams, NoFields, PathParams, PositiveAmount},
};

mod buyer;
mod cancel;
mod history;
mod new_order;
pub(crate) mod receipt;
mod refund;

pub(crate) use buyer::Buyer;
use buyer::with_user;
pub(crate) use cancel::{Cancellation, cancel, cancel_by_client};
pub(crate) use history::{
    OrderHistoryEntry, OrderNote, OrderPayment, create_note, list_history, list_payments,
};
pub(crate) use new_order::{NewOrder, create};
pub(crate) use receipt::{OrderReceipt, receipt};
pub(crate) use refund::{Refund, refund};

/// A purchase. Money is in `assetCode`.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the contract says orderStatus")]
pub(crate) struct Order {
    /// `null` on a dry run.
    id: Option<String>,
    user_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<Buyer>,
    asset_code: String,
    /// Lines with tax, and shipping.
    amount: String,
    amount_without_shipment: String,
    amount_without_taxes: String,
    shipping_amount: String,
    taxes_amount: String,
    /// In `bonusAssetCode`.
    bonus: String,
    bonus_asset_code: String,
    /// Net of refunds.
    paid_amount: String,
    unpaid_amount: String,
    /// `draft`, `unfulfilled`, `fulfilled` or `canceled`.
    order_status: String,
    /// `unpaid`, `paid` (in part), `fully_paid`, `partially_refunded` or `fully_refunded`.
    payment_status: String,
    delivery_method: Option<String>,
    tracking_id: Option<String>,
    /// Eight characters, unique; `null` on a dry run.
    reference: Option<String>,
    paid_at: Option<Time>,
    fulfilled_at: Option<Time>,
    canceled_at: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<Vec<OrderLine>>,
    metadata: Raw,
    custom_data: Raw,
    created_at: Option<Time>,
    updated_at: Option<Time>,
}

/// Changes of an order; fields left out stay.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct OrderPatch {
    #[serde(default)]
    #[schema(value_type = Option<Id>)]
    tracking_id: Patch<Id>,
}

/// A payment of an order.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Payment {
    /// Default: the unpaid amount.
    amount: Option<PositiveAmount>,
    /// Default: the buyer's primary wallet.
    wallet_id: Option<Id>,
}

/// A fulfilment of an order.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Fulfilment {
    tracking_id: Option<Id>,
}

/// List orders.
pub(crate) async fn list(call: Call, ListParams(list): ListParams) -> ListResult<Order> {
    let includes_lines = list.include.iter().any(|relation| relation == "lines");
    let convert = if includes_lines {
        Order::from
    } else {
        Order::without_lines
    };
    let request = call.request(ListOrdersRequest { list: Some(list) });
    let mut page = result::list(call.clients.orders().list_orders(request), |response| {
        let orders = response.orders.into_iter().map(convert);
        (orders.collect(), response.page)
    })
    .await?;
    buyer::embed(&call, page.rows_mut()).await;
    Ok(page)
}

/// Get an order with its lines.
pub(crate) async fn get(call: Call, path: PathParams) -> DataResult<Order> {
    let request = call.request(GetOrderRequest { id: id(&path)? });
    let order = result::versioned(call.clients.orders().get_order(request), |response| {
        response.order
    })
    .await?;
    with_user(&call, order).await
}

/// Update an order.
pub(crate) async fn update(
    call: Call,
    path: PathParams,
    Json(body): Json<OrderPatch>,
) -> DataResult<Order> {
    let mut mask = Mask::default();
    let tracking_id = mask.nullable("tracking_id", body.tracking_id);
    let message = UpdateOrderRequest {
        id: id(&path)?,
        tracking_id,
        update_mask: Some(mask.finish()),
    };
    let mut orders = call.clients.orders();
    let order = result::versioned(orders.update_order(call.request(message)), |response| {
        response.order
    })
    .await?;
    with_user(&call, order).await
}

/// Pay an order in full or in part.
pub(crate) async fn pay(
    call: Call,
    path: PathParams,
    Action(body): Action<Payment>,
) -> DataResult<Order> {
    let message = PayOrderRequest {
        id: id(&path)?,
        amount: body.amount.map(Into::into),
        wallet_id: body.wallet_id.map(Into::into),
    };
    let mut orders = call.clients.orders();
    result::data(orders.pay_order(call.request(message)), |response| {
        response.order.map(Changed)
    })
    .await
}

/// Fulfill all lines of an order.
pub(crate) async fn fulfill(
    call: Call,
    path: PathParams,
    Action(body): Action<Fulfilment>,
) -> DataResult<Order> {
    let message = FulfillOrderRequest {
        id: id(&path)?,
        tracking_id: body.tracking_id.map(Into::into),
    };
    let mut orders = call.clients.orders();
    result::data(orders.fulfill_order(call.request(message)), |response| {
        response.order.map(Changed)
    })
    .await
}

/// Unfulfill all lines of an order.
pub(crate) async fn unfulfill(
    call: Call,
    path: PathParams,
    _: Action<NoFields>,
) -> DataResult<Order> {
    let message = UnfulfillOrderRequest { id: id(&path)? };
    let mut orders = call.clients.orders();
    result::data(orders.unfulfill_order(call.request(message)), |response| {
        response.order.map(Changed)
    })
    .await
}

fn id(path: &PathParams) -> Result<String, Problem> {
    path.id("id", Code::OrderNotFound)
}

impl Versioned for wire::Order {
    fn version(&self) -> i64 {
        dto::millis(self.updated_at)
    }
}

impl Located for Order {
    fn location(&self) -> String {
        format!("/orders/{}", self.id.as_deref().unwrap_or_default())
    }
}

impl Order {
    /// Converts an order to the form of lists without included lines, and of an order in its line.
    pub(super) fn without_lines(order: wire::Order) -> Self {
        Self {
            lines: None,
            ..order.into()
        }
    }
}

/// The order in the response to a change that can be replayed: with the user that a replay repeats.
pub(super) struct Changed(pub(super) wire::Order);

impl From<Changed> for Order {
    fn from(Changed(mut order): Changed) -> Self {
        let user = order.user.take().map(Buyer::from);
        Self {
            user,
            ..order.into()
        }
    }
}

impl From<wire::Order> for Order {
    /// Converts a whole order: with its lines, and without its user, which the caller embeds.
    fn from(order: wire::Order) -> Self {
        let delivery = order.delivery_method();
        let has_delivery = delivery != wire::DeliveryMethod::Unspecified;
        Self {
            order_status: dto::text(order.order_status().as_str_name(), "ORDER_STATUS_"),
            payment_status: dto::text(order.payment_status().as_str_name(), "PAYMENT_STATUS_"),
            delivery_method: has_delivery
                .then(|| dto::text(delivery.as_str_name(), "DELIVERY_METHOD_")),
            id: dto::not_empty(order.id),
            user_id: order.user_id,
            user: None,
            asset_code: order.asset_code,
            amount: order.amount,
            amount_without_shipment: order.amount_without_shipment,
            amount_without_taxes: order.amount_without_taxes,
            shipping_amount: order.shipping_amount,
            taxes_amount: order.taxes_amount,
            bonus: order.bonus,
            bonus_asset_code: order.bonus_asset_code,
            paid_amount: order.paid_amount,
            unpaid_amount: order.unpaid_amount,
            tracking_id: order.tracking_id,
            reference: dto::not_empty(order.reference),
            paid_at: Time::of(order.paid_at),
            fulfilled_at: Time::of(order.fulfilled_at),
            canceled_at: Time::of(order.canceled_at),
            lines: Some(order.lines.into_iter().map(Into::into).collect()),
            metadata: Raw::of(order.metadata),
            custom_data: Raw::of(order.custom_data),
            created_at: Time::of(order.created_at),
            updated_at: Time::of(order.updated_at),
        }
    }
}
