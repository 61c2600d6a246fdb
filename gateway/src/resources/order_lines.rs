//! `/orders/:orderId/lines`

use platform::error::Code;
use proto::orders::v1::{
    self as wire, FulfillOrderLineRequest, GetOrderLineRequest, GetOrderRequest,
    ListOrderLinesRequest, UnfulfillOrderLineRequest,
};
use serde::{Deserialize, Serialize};

use super::{
    dto::{self, Raw, Time},
    orders::{Changed, Order},
    result::{self, DataResult, ListResult},
};
use crate::{
    error::Problem,
    extract::{Action, Call, ListParams, PathParams, UnitCount},
    respond::Data,
};

/// A product in an order, as it was when the order was placed.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OrderLine {
    /// `null` on a dry run.
    id: Option<String>,
    /// `null` on a dry run.
    order_id: Option<String>,
    product_id: String,
    product: Option<OrderedProduct>,
    quantity: u32,
    fulfilled_quantity: u32,
    /// `unfulfilled`, `partially_fulfilled`, `fulfilled` or `canceled`.
    status: String,
    /// Net.
    unit_price: String,
    unit_tax: String,
    /// Percent.
    tax_rate: Option<String>,
    unit_bonus: String,
    asset_code: String,
    bonus_asset_code: String,
    fulfilled_at: Option<Time>,
    metadata: Raw,
    created_at: Option<Time>,
    updated_at: Option<Time>,
}

/// The product of a line: `id` and `name` inside an order; all of it on the line itself, and in a list
/// with `include=product`.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OrderedProduct {
    id: String,
    /// Null if it had none.
    name: Option<String>,
    #[serde(flatten)]
    detail: Option<ProductDetail>,
}

/// Further fields of the product of a single line.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProductDetail {
    description: Option<String>,
    type_code: String,
    image: Option<String>,
    thumbnail: Option<String>,
    category: Option<OrderedCategory>,
    custom_data: Raw,
    metadata: Raw,
}

/// The category of an ordered product, as it was then.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OrderedCategory {
    id: String,
    title: String,
    description: Option<String>,
    image_url: Option<String>,
    thumbnail_url: Option<String>,
    custom_data: Raw,
    metadata: Raw,
    created_at: Option<Time>,
    updated_at: Option<Time>,
}

/// A line with its order.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct OrderLineDetail {
    #[serde(flatten)]
    line: OrderLine,
    /// The order without user and lines.
    order: Order,
}

/// Units to fulfil or unfulfil.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Units {
    /// Default: all units left.
    quantity: Option<UnitCount>,
}

/// List the lines of an order.
///
/// Each has `id` and `name` of its product; `include=product` adds the rest.
pub(crate) async fn list(
    call: Call,
    path: PathParams,
    ListParams(list): ListParams,
) -> ListResult<OrderLine> {
    let order_id = path.id("orderId", Code::OrderNotFound)?;
    let includes_product = list.include.iter().any(|relation| relation == "product");
    let convert = if includes_product {
        OrderLine::detail
    } else {
        OrderLine::from
    };
    let request = call.request(ListOrderLinesRequest {
        order_id,
        list: Some(list),
    });
    result::list(
        call.clients.order_lines().list_order_lines(request),
        |response| {
            (
                response.lines.into_iter().map(convert).collect(),
                response.page,
            )
        },
    )
    .await
}

/// Get an order line with its order.
pub(crate) async fn get(call: Call, path: PathParams) -> DataResult<OrderLineDetail> {
    let (order_id, id) = ids(&path)?;
    let order = call.request(GetOrderRequest {
        id: order_id.clone(),
    });
    let line = call.request(GetOrderLineRequest { order_id, id });
    let (mut orders, mut lines) = (call.clients.orders(), call.clients.order_lines());
    let (order, line) = tokio::try_join!(
        result::resource(orders.get_order(order), |response| response.order),
        result::resource(lines.get_order_line(line), |response| response.line),
    )?;
    Ok(Data::new(OrderLineDetail {
        line: OrderLine::detail(line),
        order: Order::without_lines(order),
    }))
}

/// Fulfill units of an order line.
pub(crate) async fn fulfill(
    call: Call,
    path: PathParams,
    Action(body): Action<Units>,
) -> DataResult<Order> {
    let (order_id, id) = ids(&path)?;
    let message = FulfillOrderLineRequest {
        order_id,
        id,
        quantity: body.quantity.map(Into::into),
    };
    let mut fulfilment = call.clients.fulfilment();
    result::data(
        fulfilment.fulfill_order_line(call.request(message)),
        |response| response.order.map(Changed),
    )
    .await
}

/// Unfulfill units of an order line.
pub(crate) async fn unfulfill(
    call: Call,
    path: PathParams,
    Action(body): Action<Units>,
) -> DataResult<Order> {
    let (order_id, id) = ids(&path)?;
    let message = UnfulfillOrderLineRequest {
        order_id,
        id,
        quantity: body.quantity.map(Into::into),
    };
    let mut fulfilment = call.clients.fulfilment();
    result::data(
        fulfilment.unfulfill_order_line(call.request(message)),
        |response| response.order.map(Changed),
    )
    .await
}

fn ids(path: &PathParams) -> Result<(String, String), Problem> {
    Ok((
        path.id("orderId", Code::OrderNotFound)?,
        path.id("id", Code::OrderLineNotFound)?,
    ))
}

impl OrderLine {
    fn detail(mut line: wire::OrderLine) -> Self {
        let product = line.product.take().map(OrderedProduct::detail);
        Self {
            product,
            ..line.into()
        }
    }
}

impl OrderedProduct {
    fn detail(product: wire::OrderedProduct) -> Self {
        let detail = ProductDetail {
            description: product.description,
            type_code: product.type_code,
            image: product.image,
            thumbnail: product.thumbnail,
            category: product.category.map(Into::into),
            custom_data: Raw::of(product.custom_data),
            metadata: Raw::of(product.metadata),
        };
        Self {
            id: product.id,
            name: dto::not_empty(product.name),
            detail: Some(detail),
        }
    }
}

impl From<wire::OrderLine> for OrderLine {
    fn from(line: wire::OrderLine) -> Self {
        let product = line.product.as_ref().map(|product| OrderedProduct {
            id: product.id.clone(),
            name: dto::not_empty(product.name.clone()),
            detail: None,
        });
        Self {
            status: dto::text(line.status().as_str_name(), "ORDER_LINE_STATUS_"),
            id: dto::not_empty(line.id),
            order_id: dto::not_empty(line.order_id),
            product_id: line.product_id,
            product,
            quantity: line.quantity,
            fulfilled_quantity: line.fulfilled_quantity,
            unit_price: line.unit_price,
            unit_tax: line.unit_tax,
            tax_rate: line.tax_rate,
            unit_bonus: line.unit_bonus,
            asset_code: line.asset_code,
            bonus_asset_code: line.bonus_asset_code,
            fulfilled_at: Time::of(line.fulfilled_at),
            metadata: Raw::of(line.metadata),
            created_at: Time::of(line.created_at),
            updated_at: Time::of(line.updated_at),
        }
    }
}

impl From<wire::OrderedCategory> for OrderedCategory {
    fn from(category: wire::OrderedCategory) -> Self {
        Self {
            id: category.id,
            title: category.title,
            description: category.description,
            thumbnail_url: None,
            image_url: category.image_url,
            custom_data: Raw::of(category.custom_data),
            metadata: Raw::of(String::new()),
            created_at: Time::of(category.created_at),
            updated_at: Time::of(category.updated_at),
        }
    }
}
