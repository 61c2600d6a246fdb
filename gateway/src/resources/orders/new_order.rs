//! `POST /orders`

use proto::orders::v1::{self as wire, CreateOrderRequest, CreateOrderResponse};
use serde::Deserialize;

use super::{Changed, Order};
use crate::{
    extract::{Call, CustomData, Id, Json, JsonObject, Many, Quantity, Text},
    resources::result::{self, DataResult},
};

/// The delivery method.
#[derive(Debug, Clone, Copy, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DeliveryMethod {
    /// To an address.
    Shipping,
    /// Collected by the buyer.
    Pickup,
}

/// A product and its quantity.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewOrderLine {
    product_id: Id,
    /// Default 1; at most 1 000 000.
    quantity: Option<Quantity>,
    /// The answers to the product's questions, by question id.
    product_questions_result: Option<JsonObject>,
}

/// An order to create.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewOrder {
    user_id: Id,
    /// 1 to 200.
    #[schema(value_type = Vec<NewOrderLine>, min_items = 1, max_items = 200)]
    lines: Many<NewOrderLine, 1, 200>,
    delivery_method: Option<DeliveryMethod>,
    /// Needed with `shipping`.
    shipping_address_id: Option<Text>,
    /// Indicative only.
    chosen_payment_method: Option<Text>,
    /// Responds with the order as it would be, and creates nothing.
    dry_run: Option<bool>,
    /// Pays with the bonus balance first.
    use_bonus: Option<bool>,
    /// Pays immediately from this wallet.
    wallet_id: Option<Id>,
    user_notes: Option<Text>,
    custom_data: Option<CustomData>,
}

/// Create an order.
///
/// Responds 201, or 200 without a location to a dry run, which creates nothing.
pub(crate) async fn create(call: Call, Json(body): Json<NewOrder>) -> DataResult<Order> {
    let is_dry_run = body.dry_run.unwrap_or_default();
    let mut orders = call.clients.orders();
    let response = orders.create_order(call.request(body.into()));
    let order = |response: CreateOrderResponse| response.order.map(Changed);
    if is_dry_run {
        result::data(response, order).await
    } else {
        result::created(response, order).await
    }
}

impl From<NewOrder> for CreateOrderRequest {
    fn from(body: NewOrder) -> Self {
        let line = |line: NewOrderLine| wire::NewOrderLine {
            product_id: line.product_id.into(),
            quantity: line.quantity.map(Into::into),
            product_questions_result: line.product_questions_result.map(Into::into),
        };
        Self {
            user_id: body.user_id.into(),
            lines: body.lines.0.into_iter().map(line).collect(),
            delivery_method: body
                .delivery_method
                .map(wire::DeliveryMethod::from)
                .unwrap_or_default()
                .into(),
            shipping_address_id: body.shipping_address_id.map(Into::into),
            chosen_payment_method: body.chosen_payment_method.map(Into::into),
            dry_run: body.dry_run.unwrap_or_default(),
            use_bonus: body.use_bonus.unwrap_or_default(),
            wallet_id: body.wallet_id.map(Into::into),
            user_notes: body.user_notes.map(Into::into),
            custom_data: body.custom_data.map(Into::into),
        }
    }
}

impl From<DeliveryMethod> for wire::DeliveryMethod {
    fn from(method: DeliveryMethod) -> Self {
        match method {
            DeliveryMethod::Shipping => Self::Shipping,
            DeliveryMethod::Pickup => Self::Pickup,
        }
    }
}
